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
  count: number;
  /** Intervals that have ended since the last failure. */
  quietIntervals: number;
}

/** From a service's first failure until it has no group. */
interface Outage {
  readonly groups: Map<string, FailureGroup>;
  readonly startedMs: number;
  lastMs: number;
  count: number;
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
      if (group.count === 0) continue;
      log.warn({ observation: "failures-counted", ...group.failure, count: group.count }, "requests failed again");
      group.count = 0;
    }
  }

  function tick(): void {
    for (const [service, outage] of outages) {
      logCounts(outage);
      deleteQuietGroups(outage);
      if (outage.groups.size > 0) continue;
      const { count, startedMs, lastMs } = outage;
      const fields = { observation: "failures-ended", service, count, durationMs: Math.round(lastMs - startedMs) };
      log.info(fields, "no request to the service has failed for 30 s");
      outages.delete(service);
    }
    if (outages.size === 0) stop();
  }

  /** Without the context of a request: otherwise its log lines would have the id of the request that starts the timer. */
  const tickOutsideRequests = AsyncLocalStorage.bind(tick);

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    report(failure, details, message) {
      if (isClosed) return log.warn({ ...failure, ...details }, message);
      const nowMs = performance.now();
      const outage = outages.get(failure.service) ?? startOutage(nowMs);
      outages.set(failure.service, outage);
      timer ??= setInterval(tickOutsideRequests, intervalMs).unref();
      outage.lastMs = nowMs;
      outage.count++;
      const isFirst = !countInGroup(outage, failure);
      if (isFirst) log.warn({ ...failure, ...details }, message);
    },
    close() {
      isClosed = true;
      stop();
      for (const outage of outages.values()) logCounts(outage);
      outages.clear();
    },
  };
}

function startOutage(nowMs: number): Outage {
  return { groups: new Map(), startedMs: nowMs, lastMs: nowMs, count: 0 };
}

/** To be called once per interval. */
function deleteQuietGroups({ groups }: Outage): void {
  for (const [key, group] of groups) {
    group.quietIntervals++;
    if (group.quietIntervals > quietIntervalsMax) groups.delete(key);
  }
}

/** Adds a failure to its group. @returns false if it is the first of the group, which is then created. */
function countInGroup({ groups }: Outage, failure: Failure): boolean {
  const isNew = !groups.has(keyOf(failure));
  const counted = isNew && groups.size >= groupsMax ? { ...failure, replica: "other" } : failure;
  const group = groups.get(keyOf(counted));
  if (!group) {
    groups.set(keyOf(counted), { failure: counted, count: 0, quietIntervals: 0 });
    return false;
  }
  group.count++;
  group.quietIntervals = 0;
  return true;
}

function keyOf({ replica = "", reason }: Failure): string {
  return `${reason} ${replica}`;
}
