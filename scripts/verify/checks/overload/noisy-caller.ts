// The part `noisy-caller` of overload: one caller sends ten times its rate limit, which alone is more than the process can serve. The requests of
// another caller must not become slower.
import { median, quantile } from "../../../../bench/measure/quantile.ts";
import { createRequest, type EndpointKind, interleave } from "./endpoints.ts";
import type { LoadPhase, PhaseReport } from "./load-job.ts";
import { startLoadTestbed, type TestedProcess } from "./load-testbed.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import { describePhase } from "./phase-summary.ts";

const limitPerMinute = 8_000;
const limitPerSecond = limitPerMinute / 60;
/** The rates of the noisy caller, as multiples of its limit. */
const calmLimitRatio = 0.9;
const noisyLimitRatio = 10;
const calmName = "calm: both within their limits";
const noisyName = `one caller at ${noisyLimitRatio} times its limit`;
/** Below the quiet caller's limit of 133 per second. */
const quietPerSecond = 50;
const latencyRatioMax = 1.5;
/** The tolerance in both directions, because units are replenished during the last responses. */
const servedRatioMax = 1.1;
/**
 * Each round is a calm and a noisy phase. The host's speed changes within minutes, so the p99 of a noisy phase is compared with that of the calm
 * phase of its round, and the claim is about the median of these ratios.
 */
const roundCount = 11;
/** In the control, requests of the noisy phase are still pending in the calm phase of a further round. */
const controlRoundCount = 1;
const rampSeconds = 2;
/** Longer than a process needs to serve the burst, which is the units of one minute. Only the first round has a burst. */
const burstSeconds = 12;

export const noisyCallerPart: OverloadPart = {
  name: "noisy-caller",
  purpose: "a caller at 10 times its limit does not slow down another caller",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then.
  control: "no rate limits and ADMISSION=false",
  async run(run) {
    await checkNoisyCaller("gateway", run);
    await checkNoisyCaller("rest-proxy", run);
  },
};

async function checkNoisyCaller(kind: EndpointKind, run: PartRun): Promise<void> {
  const testbed = await startLoadTestbed(run);
  const tested = await testbed.start(
    kind,
    run.isControl ? { ADMISSION: "false" } : { RATE_LIMIT_READS_PER_MINUTE: String(limitPerMinute) },
  );
  const rounds = run.isControl ? controlRoundCount : roundCount;
  const report = await testbed.run(
    {
      phases: createPhases(tested, rounds, run.options.seconds),
      inTimeMs: 1_000,
      connectionsEach: 256,
      pid: tested.pid,
    },
    // In the control the load process itself is late.
    !run.isControl,
  );
  for (const phase of report.phases) run.print(describePhase(phase));
  const calmPhases = report.phases.filter(({ name }) => name === calmName);
  const noisyPhases = report.phases.filter(({ name }) => name === noisyName);
  const quietInCalm = addUp(calmPhases, "quiet");
  const quietBesideNoisy = addUp(noisyPhases, "quiet");
  claimQuietCaller(kind, { quietInCalm, quietBesideNoisy }, run);
  claimNoisyCaller(kind, addUp(noisyPhases, "noisy"), run);
  await tested.stop();
}

function createPhases(tested: TestedProcess, rounds: number, measuredSeconds: number): readonly LoadPhase[] {
  const quietRequest = createRequest(tested, { kind: "quiet", localAddress: "127.0.0.2" });
  const noisyRequest = createRequest(tested, { kind: "noisy", localAddress: "127.0.0.3" });
  const createPhase = (name: string, limitRatio: number, seconds: number, isRamp = false): LoadPhase => {
    const perSecond = limitRatio * limitPerSecond + quietPerSecond;
    const requests = interleave(quietPerSecond / perSecond, [quietRequest], [noisyRequest]);
    return { name, seconds, isRamp, perSecond, requests };
  };
  return Array.from({ length: rounds }, (_, round) => [
    createPhase("before calm", calmLimitRatio, rampSeconds, true),
    createPhase(calmName, calmLimitRatio, measuredSeconds),
    createPhase("before the noise", noisyLimitRatio, round === 0 ? burstSeconds : rampSeconds, true),
    createPhase(noisyName, noisyLimitRatio, measuredSeconds),
  ]).flat();
}

/** The requests of one caller in all phases. */
interface CallerReport {
  readonly seconds: number;
  readonly sent: number;
  readonly good: number;
  readonly late: number;
  /** Of each phase. */
  readonly p99sMs: readonly number[];
}

/** @throws Error if a phase has no such requests. */
function addUp(phases: readonly PhaseReport[], kind: "quiet" | "noisy"): CallerReport {
  const reports = phases.map(({ kinds }) => kinds[kind]).filter((report) => report !== undefined);
  if (reports.length < phases.length) throw new Error(`A phase has no requests of the ${kind} caller.`);
  return {
    seconds: sumOf(phases, ({ seconds }) => seconds),
    sent: sumOf(reports, ({ sent }) => sent),
    good: sumOf(reports, ({ good }) => good),
    late: sumOf(reports, ({ late }) => late),
    p99sMs: reports.map(({ latenciesMs }) => quantile(latenciesMs, 0.99)),
  };
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

interface QuietReports {
  readonly quietInCalm: CallerReport;
  readonly quietBesideNoisy: CallerReport;
}

function claimQuietCaller(
  kind: EndpointKind,
  { quietInCalm, quietBesideNoisy }: QuietReports,
  { claim, print }: PartRun,
): void {
  const ratios = quietBesideNoisy.p99sMs.map(
    (besideNoisyMs, round) => besideNoisyMs / (quietInCalm.p99sMs[round] ?? 0),
  );
  const medians = [quietBesideNoisy, quietInCalm].map(({ p99sMs }) => `${median(p99sMs).toFixed(1)} ms`);
  const { good, sent } = quietBesideNoisy;
  print(`p99 in a noisy phase, times that in the calm phase: ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}`);
  claim(
    `${kind}: p99 of another caller is at most ${latencyRatioMax} times that of calm, as the median of all rounds`,
    good === sent && median(ratios) <= latencyRatioMax,
    {
      measured: `${median(ratios).toFixed(2)} times: ${medians.join(", calm ")}; ${good} of ${sent} served`,
      control: "fails",
    },
  );
}

function claimNoisyCaller(kind: EndpointKind, { good, late, seconds }: CallerReport, { claim }: PartRun): void {
  const servedPerSecond = (good + late) / seconds;
  const isWithinLimit = servedPerSecond <= servedRatioMax * limitPerSecond;
  const reachesLimit = servedPerSecond >= limitPerSecond / servedRatioMax;
  claim(`${kind}: the caller is served up to its limit`, isWithinLimit && reachesLimit, {
    measured: `${servedPerSecond.toFixed(0)}/s, limit ${limitPerSecond.toFixed(0)}/s`,
    control: "fails",
  });
}
