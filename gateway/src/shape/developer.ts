// Stage 5 of 5: say it. What a developer asks to know beside the answer.

/** Where the time went, in milliseconds. */
export interface EngineTimings {
  readonly planMs: number;
  readonly runMs: number;
  readonly shapeMs: number;
}

/** The answer with `extensions.queryPlan`. Spliced in: the engine writes a whole object, and no `extensions`. */
export function withQueryPlan(body: Buffer, queryPlan: unknown): Buffer {
  const extensions = JSON.stringify({ queryPlan });
  return Buffer.concat([body.subarray(0, -1), Buffer.from(`,"extensions":${extensions}}`)]);
}

/** `Server-Timing` (https://www.w3.org/TR/server-timing/), milliseconds. `parse` is all before the plan, the wait for the body too. */
export function writeServerTiming(parseMs: number, { planMs, runMs, shapeMs }: EngineTimings): string {
  return Object.entries({ parse: parseMs, plan: planMs, run: runMs, shape: shapeMs })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`)
    .join(", ");
}
