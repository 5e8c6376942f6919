import { type CallerContext, isSampled } from "../../http/trace-context.ts";
import type { TracingConfig } from "../../process/telemetry-config.ts";

/**
 * Whether a request is traced, by OTEL_TRACES_SAMPLER. Asked before anything is made for a span: most requests are not.
 * @param random in [0, 1).
 */
export function createSampling(
  { sampler, ratio }: Pick<TracingConfig, "sampler" | "ratio">,
  random: () => number = Math.random,
): (caller: CallerContext | undefined) => boolean {
  const kind = sampler.replace(/^parentbased_/, "");
  const share = kind === "always_on" ? 1 : kind === "always_off" ? 0 : ratio;
  const followsCaller = sampler.startsWith("parentbased_");
  return (caller) => {
    if (caller === undefined) return random() < share;
    return followsCaller ? isSampled(caller) : placeOf(caller.traceId) < share;
  };
}

/** In [0, 1), the same in each process that meets this trace: the last digits are the random ones (Trace Context, level 2, section 2.2.3). */
function placeOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32;
}
