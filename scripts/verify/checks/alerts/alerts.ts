// `npm run verify -- alerts` runs these checks in order: configuration files, a short outage, a healthy platform, each fault, all queries.
// faults.ts lists the faults, fault-run.ts runs one, and monitoring-settings.ts adapts the repository's rules to the check.
import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic } from "../../traffic/traffic.ts";
import { defineVerification, type Options, type VerificationRun } from "../../verification.ts";
import { startMonitoredPlatform } from "./alert-platform.ts";
import { runFault } from "./fault-run.ts";
import { type Fault, faults } from "./faults.ts";
import { checkFiles, findOrInstallPrograms, type MonitoringPrograms } from "./monitoring-programs.ts";
import { shorteningFactor } from "./monitoring-settings.ts";
import { isRatioOf, runOutage } from "./outage.ts";
import { verifyQueries } from "./queries.ts";

/** A check besides the faults: a short outage on newly started processes. */
const outageName = "short-outage";
/**
 * How long the healthy platform is watched: long enough for a rule with a window of 15 min and a `for` of 15 min, each shortened to 30 s. A rule
 * with longer times may not fire in this time.
 */
const healthyMs = 60_000;
const requestTimeoutMs = 30_000;

const options = {
  perSecond: {
    kind: "number",
    min: 8,
    max: 200,
    fallback: 16,
    why: "the request rate through gateway and REST proxy together",
  },
  only: {
    kind: "names",
    of: [outageName, ...faults.map(({ name }) => name)],
    quick: ["unit-down"],
    why: "checks to run",
  },
  programs: {
    kind: "text",
    placeholder: "FOLDER",
    why: "folder with prometheus, promtool, alertmanager (or prometheus-alertmanager) and amtool, instead of those in PATH; valkey-server or redis-server may be in PATH",
  },
  logs: {
    kind: "text",
    placeholder: "FOLDER",
    why: "writes the output of each program into this folder, one file each",
  },
} as const satisfies Options;

type AlertRun = VerificationRun<typeof options>;

export const alerts = defineVerification({
  name: "alerts",
  summary: "each injected fault causes its alerts, and a healthy platform causes none",
  description: `Checks the rules and settings with promtool and amtool, starts the platform, Prometheus and Alertmanager as processes, and injects one fault
after the other. Each fault's alerts must be notified, link to their runbook, and resolve after the fault is undone. A healthy platform must
cause no notification. Every query of every dashboard must return data. Before that, on a separate platform, a subgraph fails for 4 s
(short-outage): the recorded error ratios must match what clients observed. Prometheus, Alertmanager and Redis or Valkey are those in PATH,
otherwise Debian's packages, which are installed (as root) and not started as services. It takes a quarter of an hour. Use an idle machine: on
a busy one the platform is slow, and alerts report it.`,
  options,
  // With `--control`: then the claims with "fails" must not hold.
  control: "no fault is injected",
  async run(run) {
    const programs = findOrInstallPrograms(run.options.programs, run.print);
    for (const { claim, holds, output } of checkFiles(programs)) {
      if (!holds) run.print(output);
      // With `--control` too, the files must be valid.
      run.claim(claim, holds, { control: "holds" });
    }
    const { only } = run.options;
    if (only.includes(outageName)) await verifyOutage(run, programs);
    const selected = faults.filter(({ name }) => only.includes(name));
    if (selected.length > 0) await verifyFaults(run, programs, selected);
  },
});

/** Runs on a separate platform with unshortened intervals, so that the whole outage lies between two scrapes. */
async function verifyOutage(run: AlertRun, programs: MonitoringPrograms): Promise<void> {
  // Own cleanups, so that this platform stops before that of `verifyFaults` starts.
  const cleanups: (() => unknown)[] = [];
  const onCleanup = (cleanUp: () => unknown) => {
    cleanups.push(cleanUp);
  };
  const stop = async () => {
    for (let cleanUp = cleanups.pop(); cleanUp; cleanUp = cleanups.pop()) await cleanUp();
  };
  run.onCleanup(stop);
  const { logs } = run.options;
  const { platform, monitoring } = await startMonitoredPlatform({ run: { onCleanup }, programs, logs, factor: 1 });
  for (const { objective, ratio, observed } of await runOutage(platform, monitoring, run.isControl)) {
    const { count, failed } = observed;
    const byClients = `clients observed ${(failed / count).toFixed(4)}, ${failed} of ${count} requests`;
    run.claim(`Prometheus records the error ratio of a short outage, ${objective}`, isRatioOf(ratio, observed), {
      measured: `${ratio?.toFixed(4) ?? "none"} recorded, ${byClients}`,
      control: "fails",
    });
  }
  await stop();
}

async function verifyFaults(run: AlertRun, programs: MonitoringPrograms, selected: readonly Fault[]): Promise<void> {
  const { logs, perSecond } = run.options;
  const monitored = await startMonitoredPlatform({ run, programs, logs, factor: shorteningFactor });
  run.print(`the platform and Prometheus run; all intervals of the rules are divided by ${shorteningFactor}`);
  const beginSeconds = Date.now() / 1_000;
  const { graphqlUrl, restUrl, token } = monitored.platform;
  const traffic = startTraffic({
    graphqlUrl,
    restUrl,
    token,
    run: `alerts-${Date.now()}`,
    perSecond,
    timeoutMs: requestTimeoutMs,
  });
  run.onCleanup(() => traffic.stop());
  if (!run.isControl) {
    await sleep(healthyMs);
    const falseAlarms = monitored.receiver.since(0);
    run.claim("the healthy platform causes no alerts", falseAlarms.length === 0, {
      measured: falseAlarms.map(({ alert, annotations }) => `${alert}: ${annotations["summary"]}`).join("; ") || "none",
    });
  }
  const faultsSeconds = Date.now() / 1_000;
  for (const fault of selected) await runFault(fault, monitored, run);
  if (run.isControl) return;
  await verifyQueries(run, monitored.monitoring, {
    times: { beginSeconds, faultsSeconds, endSeconds: Date.now() / 1_000 },
    isComplete: selected.length === faults.length,
  });
}
