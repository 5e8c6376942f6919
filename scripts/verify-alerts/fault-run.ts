// Runs one fault of faults.ts, and records when its alerts fire, notify and resolve.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExpectedAlert, Fault } from "./faults.ts";
import type { AlertPlatform } from "./platform.ts";
import type { NotificationReceiver, Notification } from "./notification-receiver.ts";
import { docsFolder } from "./settings.ts";
import type { Monitoring } from "./monitoring.ts";

/** The outcome of one alert. `afterMs` counts from the fault's injection, `resolvedAfterMs` from its undoing. */
export interface AlertOutcome {
  readonly alert: string;
  readonly unit: string;
  readonly expectation: "notified" | "inhibited" | "possible" | "unexpected";
  readonly receiver: string | undefined;
  readonly afterMs: number | undefined;
  /** What is wrong with its receiver or its runbook link; undefined if nothing is. */
  readonly runbookProblem: string | undefined;
  readonly resolvedAfterMs: number | undefined;
}

export interface FaultOutcome {
  readonly fault: Pick<Fault, "name" | "description">;
  readonly alerts: readonly AlertOutcome[];
}

export interface AlertSetup {
  readonly platform: AlertPlatform;
  readonly monitoring: Monitoring;
  readonly receiver: NotificationReceiver;
  readonly isControl: boolean;
}

/** After each fault that affects a service level this alert fires for six hours (shortened: twelve minutes), as designed. */
export const slowBurnAlert = "ServiceLevelBurnsSlowly";
const notifiedTimeoutMs = 90_000;
const controlTimeoutMs = 15_000;
const resolvedTimeoutMs = 180_000;
const pollMs = 200;

/** Injects a fault, waits for the expected alerts, undoes the fault, and waits until all alerts are resolved. */
export async function runFault(fault: Fault, setup: AlertSetup): Promise<FaultOutcome> {
  const { monitoring, receiver, isControl } = setup;
  const injectedMs = performance.now();
  const undo = isControl ? async () => {} : await fault.inject(setup.platform);
  const inhibitedMs = new Map<string, number>();
  const isExpectationMet = async () => {
    await recordInhibited(monitoring, inhibitedMs);
    return isComplete(fault, receiver.since(injectedMs), inhibitedMs);
  };
  await waitFor(isExpectationMet, isControl ? controlTimeoutMs : notifiedTimeoutMs);
  await undo();
  const undoneMs = performance.now();
  if (!isControl) await waitFor(() => isResolved(monitoring, receiver, injectedMs), resolvedTimeoutMs);
  const notifications = receiver.since(injectedMs);
  const missed = fault.notified
    .filter((expected) => !findNotification(notifications, expected))
    .map((expected) => missing(expected, "notified"));
  const notifiedOutcomes = await Promise.all(
    notifications.map((notification) => describe(fault, notification, injectedMs, undoneMs)),
  );
  const inhibited = (fault.inhibited ?? []).map((expected) => describeInhibited(expected, inhibitedMs, injectedMs));
  return { fault, alerts: [...notifiedOutcomes, ...missed, ...inhibited] };
}

const keyOf = (alert: string, unit: string) => `${alert} ${unit}`;

async function recordInhibited(monitoring: Monitoring, inhibitedMs: Map<string, number>): Promise<void> {
  for (const { labels, status } of await monitoring.alerts()) {
    const key = keyOf(labels["alertname"] ?? "", labels["unit"] ?? "");
    if (status.state === "suppressed" && !inhibitedMs.has(key)) inhibitedMs.set(key, performance.now());
  }
}

function isComplete(
  { notified, inhibited = [] }: Fault,
  all: readonly Notification[],
  inhibitedMs: ReadonlyMap<string, number>,
) {
  return (
    notified.every((expected) => findNotification(all, expected)) &&
    inhibited.every(([alert, unit]) => inhibitedMs.has(keyOf(alert, unit)))
  );
}

function findNotification(all: readonly Notification[], [alert, unit]: ExpectedAlert): Notification | undefined {
  return all.find((notification) => notification.alert === alert && notification.unit === unit);
}

async function isResolved(
  monitoring: Monitoring,
  receiver: NotificationReceiver,
  injectedMs: number,
): Promise<boolean> {
  const firing = (await monitoring.firing()).filter((name) => name !== slowBurnAlert);
  const open = receiver
    .since(injectedMs)
    .filter(({ alert, resolvedMs }) => alert !== slowBurnAlert && resolvedMs === undefined);
  return firing.length === 0 && open.length === 0;
}

async function waitFor(isTrue: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue()) && performance.now() < deadline) await sleep(pollMs);
}

async function describe(
  fault: Fault,
  notification: Notification,
  injectedMs: number,
  undoneMs: number,
): Promise<AlertOutcome> {
  const { alert, unit, receiver, notifiedMs, resolvedMs } = notification;
  return {
    alert,
    unit,
    expectation: expectationOf(fault, notification),
    receiver,
    afterMs: notifiedMs - injectedMs,
    runbookProblem:
      receiver === notification.labels["severity"] ? await checkRunbook(notification) : `notified ${receiver}`,
    resolvedAfterMs: resolvedMs === undefined ? undefined : Math.max(0, resolvedMs - undoneMs),
  };
}

function expectationOf(
  { notified, inhibited = [], possible = [] }: Fault,
  { alert, unit }: Notification,
): AlertOutcome["expectation"] {
  if (notified.some(([name, of]) => name === alert && of === unit)) return "notified";
  // An inhibited alert is notified if the inhibiting alert resolves first, while its own time windows still include the fault.
  const mayFollow = alert === slowBurnAlert || possible.includes(alert) || inhibited.some(([name]) => name === alert);
  return mayFollow ? "possible" : "unexpected";
}

/** Checks that the alert's link returns the page of docs/runbooks that names the alert. */
async function checkRunbook({ alert, annotations }: Notification): Promise<string | undefined> {
  const url = annotations["runbook_url"] ?? "";
  const response = await fetch(url).catch((error: unknown) => String(error));
  if (typeof response === "string") return `${url}: ${response}`;
  const text = await response.text();
  if (!response.ok) return `${url}: ${response.status}`;
  if (!text.includes(`\`${alert}\``)) return `${url} does not name the alert`;
  const file = join(docsFolder, "runbooks", new URL(url).pathname.split("/").at(-1) ?? "");
  return readFileSync(file, "utf8") === text ? undefined : `${url} is not the page of docs/runbooks`;
}

function missing([alert, unit]: ExpectedAlert, expectation: AlertOutcome["expectation"]): AlertOutcome {
  const notNotified = {
    receiver: undefined,
    afterMs: undefined,
    runbookProblem: undefined,
    resolvedAfterMs: undefined,
  };
  return { alert, unit, expectation, ...notNotified };
}

function describeInhibited(
  expected: ExpectedAlert,
  inhibitedMs: ReadonlyMap<string, number>,
  injectedMs: number,
): AlertOutcome {
  const sinceMs = inhibitedMs.get(keyOf(...expected));
  const afterMs = sinceMs === undefined ? undefined : sinceMs - injectedMs;
  return { ...missing(expected, "inhibited"), afterMs };
}
