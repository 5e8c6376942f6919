import type { ExecutedOperation } from "../engine/execution.ts";

/**
 * `Server-Timing` (https://www.w3.org/TR/server-timing/) in milliseconds, as a raw header list, for developers. `parse` includes stage 1 and the wait
 * for the request body; `shape` ends now.
 */
export function listTimings(
  arrivedMs: number,
  [planMs, runMs, shapeMs]: NonNullable<ExecutedOperation["startsMs"]>,
): readonly string[] {
  const durations = [
    formatDuration("parse", planMs - arrivedMs),
    formatDuration("plan", runMs - planMs),
    formatDuration("run", shapeMs - runMs),
    formatDuration("shape", performance.now() - shapeMs),
  ];
  return ["Server-Timing", durations.join(", ")];
}

function formatDuration(stage: string, durationMs: number): string {
  return `${stage};dur=${durationMs.toFixed(3)}`;
}
