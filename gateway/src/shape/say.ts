// Stage 5 of 5: say it. An engine's result as the bytes of a client's answer.
import type { EngineAnswer, EngineResult } from "../run/engine.ts";
import type { RequestScope } from "../run/request-scope.ts";
import type { Observe } from "../telemetry/observations.ts";
import { completeResult } from "./complete.ts";
import { maskError } from "./mask.ts";

/** Every error where clients look for it, masked; a bug beside data goes whole to the log. */
export function say(result: EngineResult, { losses, requestId }: RequestScope, observe: Observe): EngineAnswer {
  const { data, errors } = completeResult(result, losses);
  const onBug = (cause: unknown) => observe({ kind: "internal-error", requestId, cause });
  const masked = errors?.map((error) => maskError(error.toJSON(), error, onBug));
  return { status: 200, body: Buffer.from(JSON.stringify({ errors: masked, data })) };
}
