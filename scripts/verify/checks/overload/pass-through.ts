// The REST proxy passes responses of 1 KB and 70 KB through to clients with up to 3,000 keep-alive connections.
import {
  claimLatencies,
  claimNoneFails,
  type LoadClients,
  type MeasuredLoad,
  measureCapacity,
  measureLoads,
  type PhaseReport,
  type Rates,
} from "./caller-load.ts";
import { createGet, createProcessStarter, type OverloadRun, type TestedProcess } from "./tested-processes.ts";

const bodyKibs = [1, 70] as const;
/** As multiples of the capacity, with the goal of the rate served, as a share of that at the capacity. */
const loads: readonly { readonly factor: number; readonly servedShareMin?: number }[] = [
  { factor: 0.7 },
  { factor: 1 },
  { factor: 2, servedShareMin: 0.9 },
  { factor: 5, servedShareMin: 0.8 },
  { factor: 10, servedShareMin: 0.6 },
];
const overloadFactor = 10;
const recoveryFactor = 0.5;
const recoverySeconds = 1;
const warmUpSeconds = 3;
const rampSeconds = 2;

/** @param seconds for which each load is measured. */
export async function checkPassThrough(seconds: number, run: OverloadRun): Promise<void> {
  const start = await createProcessStarter(run);
  for (const kib of bodyKibs) {
    const tested = await start("rest-proxy", { ADMISSION: String(!run.isControl) });
    await checkBody(tested, kib, seconds, run);
    await tested.stop();
  }
}

async function checkBody(tested: TestedProcess, kib: number, seconds: number, run: OverloadRun): Promise<void> {
  const clients: LoadClients = { target: tested, requestOf: (priority) => createGet(tested, priority, kib) };
  await measureCapacity(clients, warmUpSeconds);
  const { perSecond: capacity } = await measureCapacity(clients, seconds);
  run.print(`${kib} KB: capacity ${capacity.toFixed(0)}/s`);
  const loadOf = (factor: number): MeasuredLoad => {
    return { name: `${kib} KB at ${factor}x`, rates: toRates(factor * capacity), rampSeconds, seconds };
  };
  let servedAtCapacity = Number.NaN;
  for (const { factor, servedShareMin } of loads) {
    const [report] = await measureLoads(clients, [loadOf(factor)], run);
    if (!report) continue;
    const perSecond = report.all.good / seconds;
    if (factor === 1) servedAtCapacity = perSecond;
    claimNoneFails(report, run);
    if (factor < 1) claimAllServed(report.name, report, run);
    if (servedShareMin === undefined) continue;
    claimLatencies(report, run, { control: "fails" });
    const share = perSecond / servedAtCapacity;
    run.claim(
      `${report.name}: at least ${servedShareMin * 100} % of the rate at 1x is served`,
      share >= servedShareMin,
      { measured: `${(share * 100).toFixed(0)} %: ${perSecond.toFixed(0)}/s of ${servedAtCapacity.toFixed(0)}/s` },
    );
  }
  const fall = [
    { ...loadOf(overloadFactor), rampSeconds: 0, seconds: rampSeconds },
    { ...loadOf(recoveryFactor), rampSeconds: recoverySeconds },
  ];
  const [, recovered] = await measureLoads(clients, fall, run);
  if (recovered)
    claimAllServed(`${kib} KB, ${recoverySeconds} s after the load has fallen from ${overloadFactor}x`, recovered, run);
}

/** A tenth of the requests is critical, three tenths are background. */
function toRates(perSecond: number): Rates {
  return { critical: 0.1 * perSecond, normal: 0.6 * perSecond, background: 0.3 * perSecond };
}

function claimAllServed(name: string, { all }: PhaseReport, { claim }: OverloadRun): void {
  claim(`${name}: all requests are served in time`, all.sent > 0 && all.good === all.sent, {
    measured: `${all.good} of ${all.sent}, ${all.rejected} rejected`,
  });
}
