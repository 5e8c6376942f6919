// Stage 5 of 5: shape. The durations of the stages, for developers.

/** https://www.w3.org/TR/server-timing/ in milliseconds. `parse` includes stage 1 and the wait for the body; `shape` ends now. */
export function listTimings(startsMs: readonly [number, number, number, number]): readonly string[] {
  const [parseMs, planMs, runMs, shapeMs] = startsMs;
  const durations = [
    formatDuration("parse", planMs - parseMs),
    formatDuration("plan", runMs - planMs),
    formatDuration("run", shapeMs - runMs),
    formatDuration("shape", performance.now() - shapeMs),
  ];
  return ["Server-Timing", durations.join(", ")];
}

function formatDuration(stage: string, durationMs: number): string {
  return `${stage};dur=${durationMs.toFixed(3)}`;
}
