// `npm run verify -- alerts`: each fault of faults.ts causes its alerts in Prometheus and Alertmanager, and a healthy platform causes none.
import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic } from "../../traffic/traffic.ts";
import { defineVerification, type Options, type VerificationRun } from "../../verification.ts";
import { startAlertPlatform } from "./alert-platform.ts";
import { type Fault, faults } from "./faults.ts";
import { checkFiles, findOrInstallPrograms } from "./monitoring-programs.ts";
import { listQueries, shorteningFactor } from "./monitoring-settings.ts";
import { type Alert, type Monitoring, startMonitoring } from "./monitoring.ts";

/** Long enough for a rule with a window of 15 min and a `for` of 15 min, each shortened to 30 s. */
const healthyMs = 60_000;
const notifiedTimeoutMs = 90_000;
const controlTimeoutMs = 15_000;
const resolvedTimeoutMs = 180_000;
const pollMs = 200;
/** After each fault that affects a service level this alert fires for six hours (shortened: twelve minutes), as designed. */
const slowBurnAlert = "ServiceLevelBurnsSlowly";

const options = {
  only: {
    kind: "names",
    of: faults.map(({ name }) => name),
    quick: ["unit-down"],
    why: "faults to inject",
  },
} as const satisfies Options;

export const alerts = defineVerification({
  name: "alerts",
  summary: "each injected fault causes its alerts, and a healthy platform causes none",
  description: `Checks the rules and settings with promtool and amtool, starts the platform, Prometheus and Alertmanager as processes, and injects one fault
after the other. Each fault's alerts must be notified, link to their runbook, and resolve after the fault is undone. A healthy platform must
cause no notification. Every query of every dashboard must return data. Prometheus, Alertmanager and Redis or Valkey are those in PATH,
otherwise Debian's packages, which are installed (as root) and not started as services. It takes a quarter of an hour. Use an idle machine: on
a busy one the platform is slow, and alerts report it.`,
  options,
  control: "no fault is injected",
  async run(run) {
    const { print, claim, onCleanup } = run;
    const programs = findOrInstallPrograms(print);
    for (const { text, problem } of checkFiles(programs)) {
      claim(text, problem === undefined, { ...(problem === undefined ? {} : { measured: problem }), control: "holds" });
    }
    const platform = await startAlertPlatform(programs.store, onCleanup);
    const monitoring = await startMonitoring({ programs, platform, onCleanup });
    print(`the platform and Prometheus run; all intervals of the rules are divided by ${shorteningFactor}`);
    const beginSeconds = Date.now() / 1_000;
    const traffic = startTraffic({ ...platform, run: `alerts-${Date.now()}`, perSecond: 16, timeoutMs: 30_000 });
    onCleanup(() => traffic.stop());
    if (!run.isControl) {
      await sleep(healthyMs);
      const falseAlarms = monitoring
        .notified()
        .map(({ labels, annotations }) => nameOf(labels) + annotations["summary"]);
      claim("the healthy platform causes no alerts", falseAlarms.length === 0, { measured: falseAlarms.join("; ") });
    }
    const selected = faults.filter(({ name }) => run.options.only.includes(name));
    for (const fault of selected) {
      print(`\n${fault.name}: ${fault.description}`);
      const undo = run.isControl ? async () => {} : await fault.inject(platform);
      await verifyFault(fault, undo, monitoring, run);
    }
    if (!run.isControl) await claimQueries(monitoring, beginSeconds, selected.length === faults.length, run);
  },
});

type Labels = Alert["labels"];

/** "UnitDown of posts", by the labels of an alert. */
function nameOf({ alertname, unit }: Labels): string {
  return `${alertname} of ${unit}`;
}

/** Waits for the alerts of an injected fault, undoes it, waits until they are resolved, and claims what was expected. */
async function verifyFault(
  { name, notified, inhibited = [], possible = [] }: Fault,
  undo: () => Promise<unknown>,
  monitoring: Monitoring,
  { isControl, claim, onCleanup }: Pick<VerificationRun, "isControl" | "claim" | "onCleanup">,
): Promise<void> {
  let isUndone = false;
  const undoOnce = async () => {
    if (!isUndone) await undo();
    isUndone = true;
  };
  onCleanup(undoOnce);
  monitoring.forgetNotified();
  const startMs = performance.now();
  const inhibitedNames = new Set<string>();
  const notifiedNames = () => new Set(monitoring.notified().map(({ labels }) => nameOf(labels)));
  const toName = ([alertname, unit]: Fault["notified"][number]) => nameOf({ alertname, unit });
  await waitUntil(isControl ? controlTimeoutMs : notifiedTimeoutMs, async () => {
    for (const labels of await monitoring.suppressed()) inhibitedNames.add(nameOf(labels));
    const names = notifiedNames();
    return notified.every((one) => names.has(toName(one))) && inhibited.every((one) => inhibitedNames.has(toName(one)));
  });
  const afterSeconds = (performance.now() - startMs) / 1_000;
  await undoOnce();
  const mustResolve = (alert: string | undefined) => alert !== slowBurnAlert;
  const unresolved = () =>
    monitoring.notified().filter(({ labels, status }) => status === "firing" && mustResolve(labels["alertname"]));
  if (!isControl) {
    await waitUntil(resolvedTimeoutMs, async () => {
      const firing = await monitoring.firing();
      return !firing.some(mustResolve) && unresolved().length === 0;
    });
  }
  for (const one of notified) {
    const measured = `all alerts after ${afterSeconds.toFixed(0)} s`;
    claim(`${name}: ${toName(one)} is notified`, notifiedNames().has(toName(one)), { measured, control: "fails" });
  }
  for (const one of inhibited) {
    claim(`${name}: ${toName(one)} is inhibited`, inhibitedNames.has(toName(one)), { control: "fails" });
  }
  if (isControl) return;
  // An inhibited alert is notified if the inhibiting alert resolves first, while its own time windows still include the fault.
  const expectedNames = new Set([...notified, ...inhibited].map(toName));
  const possibleAlerts = new Set<string | undefined>([
    slowBurnAlert,
    ...possible,
    ...inhibited.map(([alert]) => alert),
  ]);
  const unexpected = monitoring
    .notified()
    .filter(({ labels }) => !expectedNames.has(nameOf(labels)) && !possibleAlerts.has(labels["alertname"]));
  const list = (found: readonly Alert[]) => found.map(({ labels }) => nameOf(labels)).join(", ") || "none";
  claim(`${name}: no unexpected alert is notified`, unexpected.length === 0, { measured: list(unexpected) });
  const problems = (await Promise.all(monitoring.notified().map(findProblem))).filter(
    (problem) => problem !== undefined,
  );
  claim(`${name}: each alert goes to the receiver of its severity, and links to its runbook`, problems.length === 0, {
    measured: problems.join("; ") || "all do",
  });
  claim(`${name}: each alert resolves after the fault is undone`, unresolved().length === 0, {
    measured: `${list(unresolved())} unresolved`,
  });
}

async function findProblem({ labels, annotations, receiver }: Alert): Promise<string | undefined> {
  const { alertname = "", severity } = labels;
  if (receiver !== severity) return `${alertname} is notified to ${receiver}`;
  const response = await fetch(annotations["runbook_url"] ?? "").catch(() => undefined);
  const isRunbook = response?.ok && (await response.text()).includes(`\`${alertname}\``);
  return isRunbook ? undefined : `${annotations["runbook_url"]} does not name ${alertname}`;
}

/** Runs the queries of the dashboards, and one for each recorded series. Some have data only during their fault. */
async function claimQueries(
  monitoring: Monitoring,
  beginSeconds: number,
  allFaultsRan: boolean,
  { claim }: Pick<VerificationRun, "claim">,
): Promise<void> {
  const queries = listQueries();
  const rejected: string[] = [];
  const withoutData: string[] = [];
  for (const query of queries) {
    const hasData = await monitoring.hasData(query, beginSeconds).catch((error: unknown) => {
      rejected.push(`${query}: ${String(error)}`);
      return true;
    });
    if (!hasData) withoutData.push(query);
  }
  claim("Prometheus accepts every query", queries.length > 0 && rejected.length === 0, {
    measured: rejected.join("; "),
  });
  if (allFaultsRan) claim("every query has data", withoutData.length === 0, { measured: withoutData.join("; ") });
}

/** Resolves when the condition is true, or after the timeout: the claims then report what is missing. */
async function waitUntil(timeoutMs: number, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue()) && performance.now() < deadline) await sleep(pollMs);
}
