// Runs one fault of faults.ts: injects it, waits for its alerts, undoes it, waits until they are resolved, and claims what was expected.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { VerificationRun } from "../../verification.ts";
import type { MonitoredPlatform } from "./alert-platform.ts";
import type { ExpectedAlert, Fault } from "./faults.ts";
import { docsFolder, shorteningFactor } from "./monitoring-settings.ts";
import type { Monitoring } from "./monitoring.ts";
import type { Notification } from "./notification-receiver.ts";

type FaultRun = Pick<VerificationRun, "isControl" | "print" | "claim" | "onCleanup">;

/** After each fault that affects a service level this alert fires for six hours (shortened: twelve minutes), as designed. */
const slowBurnAlert = "ServiceLevelBurnsSlowly";
const notifiedTimeoutMs = 90_000;
const controlTimeoutMs = 15_000;
const resolvedTimeoutMs = 180_000;
const pollMs = 200;

/** With `--control` it injects nothing, and waits a shorter time for the alerts. */
export async function runFault(fault: Fault, monitored: MonitoredPlatform, run: FaultRun): Promise<void> {
  const { platform, monitoring, receiver } = monitored;
  run.print(`\n${fault.name}: ${fault.description}`);
  const injectedMs = performance.now();
  let undo = run.isControl ? async () => {} : await fault.inject(platform);
  run.onCleanup(() => undo()); // Does nothing once the fault is undone.
  const inhibitedMs = new Map<string, number>();
  await waitFor(
    async () => {
      await recordInhibited(monitoring, inhibitedMs);
      return isComplete(fault, receiver.since(injectedMs), inhibitedMs);
    },
    run.isControl ? controlTimeoutMs : notifiedTimeoutMs,
  );
  await undo();
  undo = async () => {};
  const undoneMs = performance.now();
  if (!run.isControl) await waitFor(() => isResolved(monitored, injectedMs), resolvedTimeoutMs);
  const outcome = { notifications: receiver.since(injectedMs), inhibitedMs, injectedMs, undoneMs };
  await claimOutcome(fault, outcome, run);
}

/** Identifies an alert in maps and in the output: "UnitDown of posts". */
const nameOf = (alert: string, unit: string) => `${alert} of ${unit}`;

/** Adds the alerts that are inhibited now. */
async function recordInhibited(monitoring: Monitoring, inhibitedMs: Map<string, number>): Promise<void> {
  for (const { labels, status } of await monitoring.alerts()) {
    const name = nameOf(labels["alertname"] ?? "", labels["unit"] ?? "");
    if (status.state === "suppressed" && !inhibitedMs.has(name)) inhibitedMs.set(name, performance.now());
  }
}

/** Whether all expected alerts have occurred. */
function isComplete(
  { notified, inhibited = [] }: Fault,
  notifications: readonly Notification[],
  inhibitedMs: ReadonlyMap<string, number>,
): boolean {
  const areNotified = notified.every((expected) => findNotification(notifications, expected) !== undefined);
  const areInhibited = inhibited.every(([alert, unit]) => inhibitedMs.has(nameOf(alert, unit)));
  return areNotified && areInhibited;
}

function findNotification(notifications: readonly Notification[], expected: ExpectedAlert): Notification | undefined {
  return notifications.find((notification) => isAbout(notification, expected));
}

function isAbout(notification: Notification, [alert, unit]: ExpectedAlert): boolean {
  return notification.alert === alert && notification.unit === unit;
}

async function isResolved({ monitoring, receiver }: MonitoredPlatform, injectedMs: number): Promise<boolean> {
  const firing = (await monitoring.firing()).filter((name) => name !== slowBurnAlert);
  return firing.length === 0 && findUnresolved(receiver.since(injectedMs)).length === 0;
}

function findUnresolved(notifications: readonly Notification[]): readonly Notification[] {
  return notifications.filter(({ alert, resolvedMs }) => alert !== slowBurnAlert && resolvedMs === undefined);
}

/** Resolves when the condition is true, or after the timeout: `claimOutcome` then reports what is missing. */
async function waitFor(isTrue: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue()) && performance.now() < deadline) await sleep(pollMs);
}

/** Times are those of `performance.now()`. */
interface FaultOutcome {
  /** All alerts that were first notified after the injection. */
  readonly notifications: readonly Notification[];
  /** When each inhibited alert was first seen, by `nameOf`. */
  readonly inhibitedMs: ReadonlyMap<string, number>;
  readonly injectedMs: number;
  readonly undoneMs: number;
}

/** The control requires that the fault's alerts are missed, and does not judge other alerts. */
export async function claimOutcome(
  fault: Fault,
  outcome: FaultOutcome,
  run: Pick<FaultRun, "isControl" | "print" | "claim">,
): Promise<void> {
  claimExpected(fault, outcome, run.claim);
  if (!run.isControl) await claimOthers(fault, outcome, run);
}

function claimExpected(
  { name, notified, inhibited = [] }: Fault,
  outcome: FaultOutcome,
  claim: FaultRun["claim"],
): void {
  const { notifications, inhibitedMs, injectedMs } = outcome;
  for (const expected of notified) {
    const notification = findNotification(notifications, expected);
    claim(`${name}: ${nameOf(...expected)} is notified`, notification !== undefined, {
      measured: notification ? describe(notification, outcome) : "it is not",
      control: "fails",
    });
  }
  for (const expected of inhibited) {
    const sinceMs = inhibitedMs.get(nameOf(...expected));
    claim(`${name}: ${nameOf(...expected)} is inhibited`, sinceMs !== undefined, {
      measured: sinceMs === undefined ? "it is not" : `after ${seconds(sinceMs - injectedMs)}`,
      control: "fails",
    });
  }
}

async function claimOthers(
  fault: Fault,
  outcome: FaultOutcome,
  { claim, print }: Pick<FaultRun, "print" | "claim">,
): Promise<void> {
  const { notifications } = outcome;
  const others = notifications.filter(
    (notification) => !fault.notified.some((expected) => isAbout(notification, expected)),
  );
  for (const notification of others)
    print(`also notified: ${nameOf(notification.alert, notification.unit)}, ${describe(notification, outcome)}`);
  const unexpected = others.filter((notification) => !isPossible(fault, notification));
  claim(`${fault.name}: no unexpected alert is notified`, unexpected.length === 0, { measured: namesOf(unexpected) });
  const problems = (await Promise.all(notifications.map(findProblem))).filter((problem) => problem !== undefined);
  claim(`${fault.name}: each alert goes to its receiver, and links to its runbook`, problems.length === 0, {
    measured: problems.join("; ") || "all do",
  });
  const unresolved = findUnresolved(notifications);
  claim(`${fault.name}: each alert resolves after the fault is undone`, unresolved.length === 0, {
    measured: `${namesOf(unresolved)} unresolved`,
  });
}

/** An inhibited alert is notified if the inhibiting alert resolves first, while its own time windows still include the fault. */
function isPossible({ inhibited = [], possible = [] }: Fault, { alert }: Notification): boolean {
  return alert === slowBurnAlert || possible.includes(alert) || inhibited.some(([name]) => name === alert);
}

/** Checks that the receiver is named by the alert's severity, and that the alert's link returns the page of docs/runbooks that names the alert. */
async function findProblem({ alert, receiver, labels, annotations }: Notification): Promise<string | undefined> {
  if (receiver !== labels["severity"]) return `${alert} is notified to ${receiver}`;
  const url = annotations["runbook_url"] ?? "";
  const response = await fetch(url).catch((error: unknown) => String(error));
  if (typeof response === "string") return `${url}: ${response}`;
  const text = await response.text();
  if (!response.ok) return `${url}: ${response.status}`;
  if (!text.includes(`\`${alert}\``)) return `${url} does not name ${alert}`;
  const file = join(docsFolder, "runbooks", new URL(url).pathname.split("/").at(-1) ?? "");
  return readFileSync(file, "utf8") === text ? undefined : `${url} is not the page of docs/runbooks`;
}

function describe(
  { receiver, notifiedMs, resolvedMs }: Notification,
  { injectedMs, undoneMs }: Pick<FaultOutcome, "injectedMs" | "undoneMs">,
): string {
  const afterMs = notifiedMs - injectedMs;
  const unshortened = `${((afterMs * shorteningFactor) / 60_000).toFixed(1)} min`;
  const resolved =
    resolvedMs === undefined ? "not resolved" : `resolved after ${seconds(Math.max(0, resolvedMs - undoneMs))}`;
  return `${receiver} after ${seconds(afterMs)} (unshortened: ${unshortened}), ${resolved}`;
}

function namesOf(notifications: readonly Notification[]): string {
  return notifications.map(({ alert, unit }) => nameOf(alert, unit)).join(", ") || "none";
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
