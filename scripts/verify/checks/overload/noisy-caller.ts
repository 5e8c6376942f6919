// The part `noisy-caller` of overload: one caller sends ten times its rate limit, which alone is more than the process can serve. The requests of
// another caller must not become slower.
import { createRequest, type EndpointKind, interleave } from "./endpoints.ts";
import type { KindReport, LoadPhase } from "./load-job.ts";
import { startLoadTestbed, type TestedProcess } from "./load-testbed.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import { describePhase, quantileOf } from "./phase-summary.ts";

const limitPerMinute = 8_000;
const limitPerSecond = limitPerMinute / 60;
/** The rate of the noisy caller, as a multiple of its limit. */
const noisyLimitRatio = 10;
/** Below the quiet caller's limit of 133 per second. */
const quietPerSecond = 50;
const latencyRatioMax = 1.5;
/** The tolerance in both directions, because units are replenished during the last responses. */
const servedRatioMax = 1.1;
const rampSeconds = 3;
/** Longer than a process needs to serve the burst, which is the units of one minute. */
const burstSeconds = 12;

export const noisyCallerPart: OverloadPart = {
  name: "noisy-caller",
  purpose: "a caller at 10 times its limit does not slow down another caller",
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
  const report = await testbed.run({
    phases: createPhases(tested, run.options.seconds),
    inTimeMs: 1_000,
    connectionsEach: 256,
    pid: tested.pid,
  });
  for (const phase of report.phases) run.print(describePhase(phase));
  // The first and the third phase are ramps.
  const [, calmPhase, , noisyPhase] = report.phases;
  const quietInCalm = calmPhase?.kinds["quiet"];
  const quietBesideNoisy = noisyPhase?.kinds["quiet"];
  const noisy = noisyPhase?.kinds["noisy"];
  if (!quietInCalm || !quietBesideNoisy || !noisy) throw new Error("The load has no such phase");
  claimQuietCaller(kind, { quietInCalm, quietBesideNoisy }, run);
  claimNoisyCaller(kind, noisy, run);
  await tested.stop();
}

function createPhases(tested: TestedProcess, measuredSeconds: number): readonly LoadPhase[] {
  const quietRequest = createRequest(tested, { kind: "quiet", localAddress: "127.0.0.2" });
  const noisyRequest = createRequest(tested, { kind: "noisy", localAddress: "127.0.0.3" });
  const createPhase = (name: string, limitRatio: number, seconds: number, isRamp = false): LoadPhase => {
    const perSecond = limitRatio * limitPerSecond + quietPerSecond;
    return {
      name: `${tested.kind}, ${name}`,
      seconds,
      isRamp,
      perSecond,
      requests: interleave(quietPerSecond / perSecond, [quietRequest], [noisyRequest]),
    };
  };
  return [
    createPhase("before calm", 1, rampSeconds, true),
    createPhase("calm: both within their limits", 1, measuredSeconds),
    createPhase("one caller uses its burst", noisyLimitRatio, burstSeconds, true),
    createPhase("one caller at 10 times its limit", noisyLimitRatio, measuredSeconds),
  ];
}

interface QuietReports {
  readonly quietInCalm: KindReport;
  readonly quietBesideNoisy: KindReport;
}

function claimQuietCaller(
  kind: EndpointKind,
  { quietInCalm, quietBesideNoisy }: QuietReports,
  { claim }: PartRun,
): void {
  const calmMs = quantileOf(quietInCalm.latenciesMs, 0.99);
  const besideNoisyMs = quantileOf(quietBesideNoisy.latenciesMs, 0.99);
  const { good, sent } = quietBesideNoisy;
  claim(
    `${kind}: p99 of another caller is at most ${latencyRatioMax} times that of calm`,
    good === sent && besideNoisyMs <= latencyRatioMax * calmMs,
    {
      measured: `${besideNoisyMs.toFixed(1)} ms, calm ${calmMs.toFixed(1)} ms; ${good} of ${sent} served`,
      control: "fails",
    },
  );
}

function claimNoisyCaller(kind: EndpointKind, { good, late }: KindReport, { options, claim }: PartRun): void {
  const servedPerSecond = (good + late) / options.seconds;
  const isWithinLimit = servedPerSecond <= servedRatioMax * limitPerSecond;
  const reachesLimit = servedPerSecond >= limitPerSecond / servedRatioMax;
  claim(`${kind}: the caller is served up to its limit`, isWithinLimit && reachesLimit, {
    measured: `${servedPerSecond.toFixed(0)}/s, limit ${limitPerSecond.toFixed(0)}/s`,
    control: "fails",
  });
}
