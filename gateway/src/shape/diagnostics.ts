// Stage 5 of 5: shape. Diagnostics for developers: the durations of the stages.

/**
 * `Server-Timing` (https://www.w3.org/TR/server-timing/) in milliseconds, as a raw header list. `parse` includes stage 1 and the wait for the
 * request body; `shape` ends now.
 * @param startsMs when parse, plan, run and shape started, by the monotonic clock.
 */
export function listTimings(startsMs: readonly [number, number, number, number]): readonly string[] {
  const endsMs = [...startsMs.slice(1), performance.now()];
  const durations = ["parse", "plan", "run", "shape"].map(
    (stage, i) => `${stage};dur=${((endsMs[i] ?? 0) - (startsMs[i] ?? 0)).toFixed(3)}`,
  );
  return ["Server-Timing", durations.join(", ")];
}
