// The part `noisy-caller` of overload: one caller sends ten times its rate limit, which alone is more than the process can serve. The requests of
// another caller must not become slower.
import { createRequest, type EndpointKind, interleave } from "./endpoints.ts";
import type { LoadPhase } from "./load-job.ts";
import { startLoadTestbed } from "./load-testbed.ts";
import type { OverloadPart, PartRun } from "./part.ts";
import { describePhase, quantileOf } from "./phase-summary.ts";

const limitPerMinute = 8_000;
const limitPerSecond = limitPerMinute / 60;
const excess = 10;
/** The rate of the quiet caller, below its limit of 133 per second. */
const quietPerSecond = 50;
const latencyRatioMax = 1.5;
/** The tolerance, for units that are replenished during the last responses. */
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
  const { options, isControl, print, claim } = run;
  const testbed = await startLoadTestbed(run);
  const process = await testbed.start(
    kind,
    isControl ? { ADMISSION: "false" } : { RATE_LIMIT_READS_PER_MINUTE: String(limitPerMinute) },
  );
  const quiet = createRequest(process, { kind: "quiet", localAddress: "127.0.0.2" });
  const noisy = createRequest(process, { kind: "noisy", localAddress: "127.0.0.3" });
  const phaseAt = (name: string, times: number, seconds: number, isRamp = false): LoadPhase => {
    const perSecond = times * limitPerSecond + quietPerSecond;
    return {
      ...{ name: `${kind}, ${name}`, seconds, isRamp },
      perSecond,
      requests: interleave(quietPerSecond / perSecond, [quiet], [noisy]),
    };
  };
  const report = await testbed.run({
    phases: [
      phaseAt("before calm", 1, rampSeconds, true),
      phaseAt("calm: both within their limits", 1, options.seconds),
      phaseAt("one caller uses its burst", excess, burstSeconds, true),
      phaseAt("one caller at 10 times its limit", excess, options.seconds),
    ],
    inTimeMs: 1_000,
    connectionsEach: 256,
    pid: process.pid,
  });
  for (const phase of report.phases) print(describePhase(phase));
  const [, calmPhase, , noisyPhase] = report.phases;
  const [calm, during, ofNoisy] = [calmPhase?.kinds["quiet"], noisyPhase?.kinds["quiet"], noisyPhase?.kinds["noisy"]];
  if (!calm || !during || !ofNoisy) throw new Error("The load has no such phase");
  const [calmMs, duringMs] = [quantileOf(calm.latenciesMs, 0.99), quantileOf(during.latenciesMs, 0.99)];
  claim(
    `${kind}: p99 of another caller is at most ${latencyRatioMax} times that of calm`,
    during.good === during.sent && duringMs <= latencyRatioMax * calmMs,
    {
      measured: `${duringMs.toFixed(1)} ms, calm ${calmMs.toFixed(1)} ms; ${during.good} of ${during.sent} served`,
      control: "fails",
    },
  );
  const servedPerSecond = (ofNoisy.good + ofNoisy.late) / options.seconds;
  claim(
    `${kind}: the caller is served up to its limit`,
    servedPerSecond <= servedRatioMax * limitPerSecond && servedPerSecond >= limitPerSecond / servedRatioMax,
    {
      measured: `${servedPerSecond.toFixed(0)}/s, limit ${limitPerSecond.toFixed(0)}/s`,
      control: "fails",
    },
  );
  await process.stop();
}
