import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic } from "../journey/traffic.ts";
import { checkFiles } from "./checks.ts";
import { faults } from "./faults.ts";
import { outageName, type VerifyOptions } from "./options.ts";
import { playOutage, type RecordedRatio } from "./outage.ts";
import { startPlatform } from "./platform.ts";
import { type Outcome, play, type Stage } from "./play.ts";
import type { Programs } from "./programs.ts";
import { askAll } from "./queries.ts";
import { startReceiver } from "./receiver.ts";
import { describeOutcome, tableHead, type Verified } from "./report.ts";
import { shorteningFactor } from "./shorten.ts";
import { startWatchers } from "./watchers.ts";

type Say = (line: string) => void;
type Ends = (() => unknown)[];

/** Longer than any `for` and the windows below it: what would be told of a healthy platform is told in that time. */
const calmMs = 60_000;
const answerMsMax = 30_000;

/** Runs on processes of its own, and ends them, whatever happens. */
export async function runAlerts(options: VerifyOptions, programs: Programs, print: Say): Promise<Verified> {
  const ends: Ends = [];
  const interrupted = hearInterruption();
  try {
    return await Promise.race([verify(options, programs, ends, print), interrupted]);
  } finally {
    await endAll(ends);
  }
}

async function verify(options: VerifyOptions, programs: Programs, ends: Ends, print: Say): Promise<Verified> {
  const { only, control } = options;
  const checks = checkFiles(programs);
  for (const { words } of checks.filter(({ isGood }) => !isGood)) print(words);
  const ratios = only.includes(outageName) && !control ? await verifyOutage(options, programs, ends) : [];
  const isOnlyOutage = only.every((name) => name === outageName);
  const played = isOnlyOutage ? nothingPlayed : await playFaults(options, programs, ends, print);
  return { checks, ratios, ...played };
}

const nothingPlayed = { falseAlarms: [], outcomes: [], answered: [] };

/** On a platform of its own, in full time: between two scrapes the whole outage begins and ends. */
async function verifyOutage(options: VerifyOptions, programs: Programs, ends: Ends): Promise<readonly RecordedRatio[]> {
  const ownEnds: Ends = [];
  // For an interruption.
  ends.push(() => endAll(ownEnds));
  const { platform, watchers } = await setUp(options, programs, ownEnds, 1);
  const ratios = await playOutage(platform, watchers);
  await endAll(ownEnds);
  return ratios;
}

async function endAll(ends: Ends): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop()) await end();
}

async function playFaults(options: VerifyOptions, programs: Programs, ends: Ends, print: Say) {
  const { perSecond, only, control } = options;
  const stage = await setUp(options, programs, ends);
  const { platform, receiver, watchers } = stage;
  print(`the platform runs, and Prometheus with our rules, ${shorteningFactor} times as fast`);
  const beginSeconds = Date.now() / 1_000;
  const traffic = startTraffic({ ...platform, run: `alerts-${Date.now()}`, perSecond, timeoutMs: answerMsMax });
  await sleep(control ? 0 : calmMs);
  const falseAlarms = receiver.since(0).map(({ alert, unit }) => `${alert} ${unit}`);
  print(`\n${tableHead}`);
  const faultsSeconds = Date.now() / 1_000;
  const outcomes: Outcome[] = [];
  for (const fault of faults.filter(({ name }) => only.includes(name))) {
    const outcome = await play(fault, stage);
    outcomes.push(outcome);
    print(describeOutcome(outcome));
  }
  const answered = await askAll(watchers, { beginSeconds, faultsSeconds, endSeconds: Date.now() / 1_000 });
  await traffic.stop();
  await traffic.audit();
  return { falseAlarms, outcomes, answered };
}

async function setUp(
  { logs, control }: VerifyOptions,
  programs: Programs,
  ends: Ends,
  factor?: number,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-alerts-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const platform = await startPlatform({ folder, logs, ends });
  const receiver = await startReceiver();
  ends.push(() => receiver.stop());
  const targets = Object.fromEntries(
    Object.entries(platform.units).map(([name, units]) => [name, units.map(({ admin }) => admin)]),
  );
  const watchers = await startWatchers({ programs, folder, logs, targets, receiverUrl: receiver.url, factor, ends });
  return { platform, watchers, receiver, isControl: control };
}

/** So that nothing is left behind when somebody wants an end. */
function hearInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}
