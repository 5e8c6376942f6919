import type { Log } from "../log.ts";

/** What failures are counted by. All three are for the log, never for a client. */
export interface Failure {
  /** The subgraph or service. */
  readonly service: string;
  /** Its URL and address; undefined when no replica was chosen. */
  readonly replica: string | undefined;
  /** One word of a small set, such as a code. */
  readonly reason: string;
}

/** Log lines of requests to services that fail, few enough to be read during an outage. */
export interface FailureLog {
  /** Logs the first failure with this service, replica and reason whole, and counts the further ones. */
  report(failure: Failure, details: object, message: string): void;
  /** Logs the counts since the last line, and logs no more. */
  close(): void;
}

const intervalMs = 10_000;
/** Intervals without a failure after which an outage is over: of failures that are rare, not each is a new one. */
const quietIntervals = 3;
/** Replicas and reasons of one outage that have lines of their own. */
const groupsMax = 100;

/** Failures with one replica and one reason. */
interface Group {
  readonly failure: Failure;
  /** Since the last line. */
  count: number;
}

/** From a service's first failure until it has not failed for a while. */
interface Outage {
  readonly groups: Map<string, Group>;
  readonly startedMs: number;
  lastMs: number;
  count: number;
  quietIntervals: number;
}

/**
 * The first failure is a line with its details, such as the stack; then there is a line with the count for each replica and reason every 10 s,
 * and one when the service has not failed for 30 s. Which requests failed is in the access log.
 */
export function createFailureLog(log: Log): FailureLog {
  const outages = new Map<string, Outage>();
  let timer: NodeJS.Timeout | undefined;

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
      outage.quietIntervals++;
      if (outage.quietIntervals <= quietIntervals) continue;
      const { count, startedMs, lastMs } = outage;
      const about = { observation: "failures-ended", service, count, durationMs: Math.round(lastMs - startedMs) };
      log.info(about, "no request to the service has failed for 30 s");
      outages.delete(service);
    }
    if (outages.size === 0) stop();
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    report(failure, details, message) {
      const nowMs = performance.now();
      const outage = outages.get(failure.service) ?? startOutage(nowMs);
      outages.set(failure.service, outage);
      timer ??= setInterval(tick, intervalMs).unref();
      outage.lastMs = nowMs;
      outage.count++;
      outage.quietIntervals = 0;
      const isFirst = !countInGroup(outage, failure);
      if (isFirst) log.warn({ ...failure, ...details }, message);
    },
    close() {
      stop();
      for (const outage of outages.values()) logCounts(outage);
      outages.clear();
    },
  };
}

function startOutage(nowMs: number): Outage {
  return { groups: new Map(), startedMs: nowMs, lastMs: nowMs, count: 0, quietIntervals: 0 };
}

/** @returns false for the first failure of its group. */
function countInGroup({ groups }: Outage, failure: Failure): boolean {
  const key = keyOf(failure);
  const isNew = !groups.has(key) && groups.size >= groupsMax;
  const counted = isNew ? { ...failure, replica: "other" } : failure;
  const group = groups.get(keyOf(counted));
  if (group) group.count++;
  else groups.set(keyOf(counted), { failure: counted, count: 0 });
  return group !== undefined;
}

function keyOf({ replica = "", reason }: Failure): string {
  return `${reason} ${replica}`;
}
