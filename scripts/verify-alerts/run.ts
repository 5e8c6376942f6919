// Starts platform and monitoring, and runs the checks one after the other: configuration files, a short outage, a healthy platform, each
// fault, all queries.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic } from "../journey/traffic.ts";
import { checkFiles } from "./file-checks.ts";
import { faults } from "./faults.ts";
import { outageName, type AlertCheckOptions } from "./options.ts";
import { runOutage, type RecordedRatio } from "./outage.ts";
import { startPlatform } from "./platform.ts";
import { type FaultOutcome, runFault, type AlertSetup } from "./fault-run.ts";
import type { MonitoringPrograms } from "./programs.ts";
import { runQueries } from "./queries.ts";
import { startNotificationReceiver } from "./notification-receiver.ts";
import { describeOutcome, tableHead, type VerifiedAlerts } from "./report.ts";
import { shorteningFactor } from "./shorten.ts";
import { startMonitoring } from "./monitoring.ts";

type Print = (line: string) => void;
type Cleanups = (() => unknown)[];

/** Longer than any shortened `for` and the windows of its query, so that a false alarm of the healthy platform fires in this time. */
const healthyMs = 60_000;
const requestTimeoutMs = 30_000;

/** Starts the processes, runs all checks, and stops the processes. */
export async function runAlerts(
  options: AlertCheckOptions,
  programs: MonitoringPrograms,
  print: Print,
): Promise<VerifiedAlerts> {
  const cleanups: Cleanups = [];
  const interrupted = waitForInterruption();
  try {
    return await Promise.race([verifyAlerts(options, programs, cleanups, print), interrupted]);
  } finally {
    await runCleanups(cleanups);
  }
}

async function verifyAlerts(
  options: AlertCheckOptions,
  programs: MonitoringPrograms,
  cleanups: Cleanups,
  print: Print,
): Promise<VerifiedAlerts> {
  const { only, control } = options;
  const checks = checkFiles(programs);
  for (const { output } of checks.filter(({ passed }) => !passed)) print(output);
  const ratios = only.includes(outageName) && !control ? await verifyOutage(options, programs, cleanups) : [];
  const isOnlyOutage = only.every((name) => name === outageName);
  const faultResults = isOnlyOutage ? noFaults : await runFaults(options, programs, cleanups, print);
  return { checks, ratios, ...faultResults };
}

const noFaults = { falseAlarms: [], outcomes: [], queryResults: [] };

/** Runs on a separate platform with unshortened intervals, so that the whole outage lies between two scrapes. */
async function verifyOutage(
  options: AlertCheckOptions,
  programs: MonitoringPrograms,
  cleanups: Cleanups,
): Promise<readonly RecordedRatio[]> {
  const outageCleanups: Cleanups = [];
  // Stops the platform also after an interruption.
  cleanups.push(() => runCleanups(outageCleanups));
  const { platform, monitoring } = await setUp(options, programs, outageCleanups, 1);
  const ratios = await runOutage(platform, monitoring);
  await runCleanups(outageCleanups);
  return ratios;
}

async function runCleanups(cleanups: Cleanups): Promise<void> {
  for (let cleanUp = cleanups.pop(); cleanUp; cleanUp = cleanups.pop()) await cleanUp();
}

async function runFaults(options: AlertCheckOptions, programs: MonitoringPrograms, cleanups: Cleanups, print: Print) {
  const { perSecond, only, control } = options;
  const setup = await setUp(options, programs, cleanups);
  const { platform, receiver, monitoring } = setup;
  print(`the platform and Prometheus run; all intervals of the rules are divided by ${shorteningFactor}`);
  const beginSeconds = Date.now() / 1_000;
  const traffic = startTraffic({ ...platform, run: `alerts-${Date.now()}`, perSecond, timeoutMs: requestTimeoutMs });
  await sleep(control ? 0 : healthyMs);
  const falseAlarms = receiver.since(0).map(({ alert, unit }) => `${alert} ${unit}`);
  print(`\n${tableHead}`);
  const faultsSeconds = Date.now() / 1_000;
  const outcomes: FaultOutcome[] = [];
  for (const fault of faults.filter(({ name }) => only.includes(name))) {
    const outcome = await runFault(fault, setup);
    outcomes.push(outcome);
    print(describeOutcome(outcome));
  }
  const queryResults = await runQueries(monitoring, { beginSeconds, faultsSeconds, endSeconds: Date.now() / 1_000 });
  await traffic.stop();
  await traffic.audit();
  return { falseAlarms, outcomes, queryResults };
}

async function setUp(
  { logs, control }: AlertCheckOptions,
  programs: MonitoringPrograms,
  cleanups: Cleanups,
  factor?: number,
): Promise<AlertSetup> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-alerts-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const platform = await startPlatform({ folder, logs, cleanups });
  const receiver = await startNotificationReceiver();
  cleanups.push(() => receiver.stop());
  const targets = Object.fromEntries(
    Object.entries(platform.units).map(([name, units]) => [name, units.map(({ admin }) => admin)]),
  );
  const monitoring = await startMonitoring({
    programs,
    folder,
    logs,
    targets,
    receiverUrl: receiver.url,
    factor,
    cleanups,
  });
  return { platform, monitoring, receiver, isControl: control };
}

/** Rejects after SIGINT or SIGTERM, so that the processes are stopped before this one ends. */
function waitForInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}
