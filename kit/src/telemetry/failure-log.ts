import { AsyncLocalStorage } from "node:async_hooks";
import type { Log } from "../process/log.ts";

/** What failures are grouped by. For the log, never for clients. */
export interface Failure {
  /** The subgraph or service. */
  readonly service: string;
  /** Its URL and address; undefined when no replica was chosen. */
  readonly replica: string | undefined;
  /** A code or another value of a small set. */
  readonly reason: string;
}

/** Logs the failures of requests to services, for the gateway, the REST proxy and the services: few enough lines to read during an outage. */
export interface FailureLog {
  /** Logs the first failure with this service, replica and reason in full, and counts further ones. */
  report(failure: Failure, details: object, message: string): void;
  /** Logs the counts that are not logged yet. Called when the process stops. Each later failure is logged in full: few requests end after that. */
  close(): void;
}

const intervalMs = 10_000;
/** A group is deleted in the interval after this many without a failure, so after 30 to 40 s. */
const quietIntervalsMax = 3;
/** Pairs of replica and reason that are logged separately, per service. Further ones are counted as replica `other`. */
const groupsMax = 100;

/** Failures with one replica and one reason. */
interface FailureGroup {
  readonly failure: Failure;
  /** Failures since the last log line of this group. */
  unloggedCount: number;
  /** Intervals that have ended since the last failure. */
  quietIntervals: number;
}

/** From a service's first failure until it has no group. Times by `performance.now()`. */
interface Outage {
  readonly groups: Map<string, FailureGroup>;
  readonly startedMs: number;
  lastFailureMs: number;
  failureCount: number;
}

/**
 * Logs the first failure of each replica and reason with its details, such as the stack; then the count of each replica and reason every 10 s,
 * and a line when no request to the service has failed for 30 to 40 s. After that time without a failure, a replica and reason counts as new, even
 * while others of the service fail. The access log lists the requests that failed.
 */
export function createFailureLog(log: Log): FailureLog {
  const outages = new Map<string, Outage>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function logCounts({ groups }: Outage): void {
    for (const group of groups.values()) {
      const { failure, unloggedCount } = group;
      if (unloggedCount === 0) continue;
      log.warn({ observation: "failures-counted", ...failure, count: unloggedCount }, "requests failed again");
      group.unloggedCount = 0;
    }
  }

  function logEnd(service: string, { failureCount, startedMs, lastFailureMs }: Outage): void {
    const durationMs = Math.round(lastFailureMs - startedMs);
    const fields = { observation: "failures-ended", service, count: failureCount, durationMs };
    log.info(fields, "no request to the service has failed for 30 s");
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

  /** Without the context of a request: otherwise its log lines would have the id of the request that starts the timer. */
  const endIntervalOutsideRequests = AsyncLocalStorage.bind(endInterval);

  function stopTimer(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    report(failure, details, message) {
      if (isClosed) return log.warn({ ...failure, ...details }, message);
      const nowMs = performance.now();
      const outage = outages.get(failure.service) ?? startOutage(nowMs);
      outages.set(failure.service, outage);
      timer ??= setInterval(endIntervalOutsideRequests, intervalMs).unref();
      outage.lastFailureMs = nowMs;
      outage.failureCount++;
      const isFirstOfGroup = addToGroup(outage, failure);
      if (isFirstOfGroup) log.warn({ ...failure, ...details }, message);
    },
    close() {
      isClosed = true;
      stopTimer();
      for (const outage of outages.values()) logCounts(outage);
      outages.clear();
    },
  };
}

function startOutage(nowMs: number): Outage {
  return { groups: new Map(), startedMs: nowMs, lastFailureMs: nowMs, failureCount: 0 };
}

/** To be called once per interval. */
function deleteQuietGroups({ groups }: Outage): void {
  for (const [key, group] of groups) {
    group.quietIntervals++;
    if (group.quietIntervals > quietIntervalsMax) groups.delete(key);
  }
}

/** Adds a failure to its group, or creates the group. @returns whether it is the first of the group: then it is logged, not counted. */
function addToGroup({ groups }: Outage, failure: Failure): boolean {
  const hasOwnGroup = groups.has(keyOf(failure)) || groups.size < groupsMax;
  const groupedFailure = hasOwnGroup ? failure : { ...failure, replica: "other" };
  const key = keyOf(groupedFailure);
  const group = groups.get(key);
  if (!group) {
    groups.set(key, { failure: groupedFailure, unloggedCount: 0, quietIntervals: 0 });
    return true;
  }
  group.unloggedCount++;
  group.quietIntervals = 0;
  return false;
}

/** The key of a failure's group. */
function keyOf({ replica = "", reason }: Failure): string {
  return `${reason} ${replica}`;
}
