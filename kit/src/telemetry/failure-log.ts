import { AsyncLocalStorage } from "node:async_hooks";
import type { Log } from "../process/log.ts";

/** Each value is one of few, except that of `GroupOptions.manyValued`. For the log, never for clients. */
export interface FailureKind {
  readonly service?: string | undefined;
}

export interface Failure extends FailureKind {
  readonly service: string;
  /** URL and address; undefined when no replica was chosen. */
  readonly replica: string | undefined;
  readonly reason: string;
}

/** Few enough lines to read during an outage, with exact counts. */
export interface FailureLog<Kind extends FailureKind = Failure> {
  report(failure: Kind, details: object, message: string): void;
  /** Logs the remaining counts. Each later failure is logged in full. */
  close(): void;
}

const intervalMs = 10_000;
/** Without a failure, so a group is deleted after 30 to 40 s. */
const quietIntervalsMax = 3;
/** Per service. Further kinds are counted with `other` as their many-valued field. */
const groupsMax = 100;

export interface GroupOptions<Kind> {
  readonly level: "info" | "warn";
  readonly manyValued: keyof Kind & string;
  /** The lines that count failures and that end an outage. */
  readonly counted: string;
  readonly ended: string;
}

interface FailureGroup<Kind> {
  readonly failure: Kind;
  /** Since the last log line of this group. */
  unloggedCount: number;
  /** Since the last failure. */
  quietIntervals: number;
}

/** From a service's first failure until it has no group. */
interface Outage<Kind> {
  readonly groups: Map<string, FailureGroup<Kind>>;
  readonly startedMs: number;
  lastFailureMs: number;
  failureCount: number;
}

export function createFailureLog(log: Log): FailureLog {
  const observations = { counted: "failures-counted", ended: "failures-ended" };
  return createGroupedLog(log, { level: "warn", manyValued: "replica", ...observations });
}

/** The first failure of each kind in full, then its count every 10 s. After 30 to 40 s without a failure a kind counts as new. */
export function createGroupedLog<Kind extends FailureKind>(log: Log, options: GroupOptions<Kind>): FailureLog<Kind> {
  const { level, manyValued } = options;
  const outages = new Map<string | undefined, Outage<Kind>>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function logCounts({ groups }: Outage<Kind>): void {
    for (const group of groups.values()) {
      const { failure, unloggedCount } = group;
      if (unloggedCount === 0) continue;
      const fields: object = { observation: options.counted, ...failure, count: unloggedCount };
      log[level](fields, "requests failed again");
      group.unloggedCount = 0;
    }
  }

  function logEnd(service: string | undefined, { failureCount, startedMs, lastFailureMs }: Outage<Kind>): void {
    const durationMs = Math.round(lastFailureMs - startedMs);
    const fields = { observation: options.ended, service, count: failureCount, durationMs };
    log.info(fields, "no request has failed for 30 s");
  }

  function endInterval(): void {
    for (const [service, outage] of outages) {
      logCounts(outage);
      deleteQuietGroups(outage);
      if (outage.groups.size > 0) continue;
      logEnd(service, outage);
      outages.delete(service);
    }
    if (outages.size === 0) stopTimer();
  }

  // Outside of requests: otherwise the lines would have the id of the request that starts the timer.
  const endIntervalOutsideRequests = AsyncLocalStorage.bind(endInterval);

  function stopTimer(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    report(failure, details, message) {
      const line: object = { ...failure, ...details };
      if (isClosed) return log[level](line, message);
      const nowMs = performance.now();
      const outage = outages.get(failure.service) ?? startOutage<Kind>(nowMs);
      outages.set(failure.service, outage);
      timer ??= setInterval(endIntervalOutsideRequests, intervalMs).unref();
      outage.lastFailureMs = nowMs;
      outage.failureCount++;
      const isFirstOfGroup = addToGroup(outage, failure, manyValued);
      if (isFirstOfGroup) log[level](line, message);
    },
    close() {
      isClosed = true;
      stopTimer();
      for (const outage of outages.values()) logCounts(outage);
      outages.clear();
    },
  };
}

function startOutage<Kind>(nowMs: number): Outage<Kind> {
  return { groups: new Map(), startedMs: nowMs, lastFailureMs: nowMs, failureCount: 0 };
}

function deleteQuietGroups({ groups }: Outage<unknown>): void {
  for (const [key, group] of groups) {
    group.quietIntervals++;
    if (group.quietIntervals > quietIntervalsMax) groups.delete(key);
  }
}

/** @returns whether it is the first of its group: then it is logged, not counted. */
function addToGroup<Kind>({ groups }: Outage<Kind>, failure: Kind, manyValued: keyof Kind): boolean {
  const ownKey = JSON.stringify(failure);
  const hasOwnGroup = groups.has(ownKey) || groups.size < groupsMax;
  const groupedFailure = hasOwnGroup ? failure : { ...failure, [manyValued]: "other" };
  const key = hasOwnGroup ? ownKey : JSON.stringify(groupedFailure);
  const group = groups.get(key);
  if (!group) {
    groups.set(key, { failure: groupedFailure, unloggedCount: 0, quietIntervals: 0 });
    return true;
  }
  group.unloggedCount++;
  group.quietIntervals = 0;
  return false;
}
