import { type CallerContext, isSampled } from "../../http/trace-context.ts";
import type { TracingConfig } from "../../process/telemetry-config.ts";

type SamplingConfig = Pick<TracingConfig, "sampler" | "ratio" | "callers">;

/**
 * Decides before anything is allocated for a span, since most requests are not traced. `traceidratio` decides by the trace id if one of our
 * own processes has sent it, and at random if a client has: a client can choose an id that is sampled.
 * @param random in [0, 1).
 */
export function createSampling(
  config: SamplingConfig,
  random: () => number = Math.random,
): (caller: CallerContext | undefined) => boolean {
  const share = shareOf(config);
  const followsCaller = config.sampler.startsWith("parentbased_");
  return (caller) => {
    if (caller !== undefined && followsCaller) return isSampled(caller);
    if (caller === undefined || config.callers === "clients") return random() < share;
    return toFraction(caller.traceId) < share;
  };
}

/** 0 to 1, where the caller's flag does not decide. */
function shareOf({ sampler, ratio }: SamplingConfig): number {
  switch (sampler) {
    case "always_on":
    case "parentbased_always_on":
      return 1;
    case "always_off":
    case "parentbased_always_off":
      return 0;
    case "traceidratio":
    case "parentbased_traceidratio":
      return ratio;
  }
}

/**
 * In [0, 1), from the trace id's random digits, which are the last ones (Trace Context, level 2, section 2.2.3), so every process with this
 * id computes the same number.
 */
function toFraction(traceId: string): number {
  return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32;
}
