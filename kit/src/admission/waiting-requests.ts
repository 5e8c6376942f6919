// Requests by level: a priority class and a bucket of the caller's recent CPU time. admission.ts limits their number (`waitingMax`).
import { bucketCount } from "./caller-costs.ts";
import { type PriorityClass, priorityClasses } from "./priority.ts";

export interface WaitingRequest {
  readonly enteredMs: number;
  /** When its client stops waiting. */
  readonly endsAtMs: number;
  readonly decide: (isAdmitted: boolean) => void;
}

/** `arrival`: the oldest, whatever its caller. `oldest`, `newest`: of the lowest bucket in use; of critical requests always the oldest. */
export type TakeOrder = "arrival" | "oldest" | "newest";

/** `take` removes from the highest class. Of ten calls, one removes a normal and one a background request if one waits, so that no class starves. */
const turnsMax = 10;
const reservedTurns: Readonly<Record<number, PriorityClass>> = { 4: "normal", 9: "background" };

export interface WaitingRequests {
  readonly length: number;
  add(priority: PriorityClass, bucket: number, request: WaitingRequest): void;
  take(order: TakeOrder): WaitingRequest | undefined;
  /**
   * Removes the least important request: of the lowest class, the oldest in the highest bucket. One normal and one background request always remain,
   * for their reserved turns, and all critical ones.
   */
  drop(): WaitingRequest | undefined;
  /** Whether `drop` may remove a less important request. Also true for every critical request, and for the first of its class. */
  outranks(priority: PriorityClass, bucket: number): boolean;
  /** Removes the requests that have waited longer than this, or for which no client waits. */
  removeExpired(nowMs: number, waitMsMax: number, criticalWaitMsMax: number): readonly WaitingRequest[];
}

interface ClassQueue {
  readonly priority: PriorityClass;
  /** By bucket, least CPU time first. */
  levels: readonly WaitingRequest[][];
  length: number;
}

function createClassQueue(priority: PriorityClass): ClassQueue {
  return { priority, levels: Array.from({ length: bucketCount }, () => []), length: 0 };
}

export function createWaitingRequests(): WaitingRequests {
  const queues = priorityClasses.map(createClassQueue);
  let length = 0;
  /** No request ends before, so that usually none must be searched for. */
  let earliestEndMs = Infinity;
  let turn = 0;

  function queueOf(priority: PriorityClass): ClassQueue {
    return queues.find((queue) => queue.priority === priority) ?? unknownPriority(priority);
  }

  function nextQueue(): ClassQueue | undefined {
    turn = (turn + 1) % turnsMax;
    const reservedClass = reservedTurns[turn];
    if (reservedClass !== undefined) {
      const reservedQueue = queueOf(reservedClass);
      if (reservedQueue.length > 0) return reservedQueue;
    }
    return queues.find((queue) => queue.length > 0);
  }

  function remove(queue: ClassQueue, level: WaitingRequest[] | undefined, order: "oldest" | "newest") {
    if (level === undefined) return undefined;
    length--;
    queue.length--;
    return order === "oldest" ? level.shift() : level.pop();
  }

  return {
    get length() {
      return length;
    },
    add(priority, bucket, request) {
      const queue = queueOf(priority);
      queue.levels[bucket]?.push(request);
      queue.length++;
      length++;
      earliestEndMs = Math.min(earliestEndMs, request.endsAtMs);
    },
    take(order) {
      const queue = nextQueue();
      if (queue === undefined) return undefined;
      if (order === "arrival") return remove(queue, levelOfOldest(queue), "oldest");
      const lowestLevel = queue.levels.find(isInUse);
      return remove(queue, lowestLevel, queue.priority === "critical" ? "oldest" : order);
    },
    drop() {
      const queue = queues.findLast(({ priority, length: count }) => priority !== "critical" && count > 1);
      if (queue === undefined) return undefined;
      const highestLevel = queue.levels.findLast(isInUse);
      return remove(queue, highestLevel, "oldest");
    },
    outranks(priority, bucket) {
      // The lowest class that can lose a request; the class of the new request if no lower one can.
      const lowest = queues.findLast((queue) => queue.priority === priority || queue.length > 1);
      if (lowest === undefined || lowest.priority !== priority) return true;
      // A critical request may wait even so.
      if (priority === "critical") return true;
      const isFirstOfClass = lowest.length === 0;
      const highestBucket = lowest.levels.findLastIndex(isInUse);
      return isFirstOfClass || highestBucket > bucket;
    },
    removeExpired(nowMs, waitMsMax, criticalWaitMsMax) {
      const isAnyEnded = nowMs >= earliestEndMs;
      const removed = queues.flatMap((queue) => {
        const enteredBeforeMs = nowMs - (queue.priority === "critical" ? criticalWaitMsMax : waitMsMax);
        const isAnyOld = queue.levels.some(([oldest]) => oldest !== undefined && oldest.enteredMs < enteredBeforeMs);
        if (!isAnyEnded && !isAnyOld) return [];
        return removeFrom(queue, ({ enteredMs, endsAtMs }) => enteredMs < enteredBeforeMs || endsAtMs <= nowMs);
      });
      length -= removed.length;
      if (isAnyEnded) earliestEndMs = findEarliestEnd(queues);
      return removed;
    },
  };
}

function removeFrom(queue: ClassQueue, isExpired: (request: WaitingRequest) => boolean): readonly WaitingRequest[] {
  const removed = queue.levels.flatMap((level) => level.filter(isExpired));
  queue.levels = queue.levels.map((level) => level.filter((request) => !isExpired(request)));
  queue.length -= removed.length;
  return removed;
}

function findEarliestEnd(queues: readonly ClassQueue[]): number {
  const waiting = queues.flatMap(({ levels }) => levels.flat());
  return waiting.reduce((earliestMs, { endsAtMs }) => Math.min(earliestMs, endsAtMs), Infinity);
}

function levelOfOldest(queue: ClassQueue): WaitingRequest[] | undefined {
  let levelOfFirst: WaitingRequest[] | undefined;
  let firstEnteredMs = Infinity;
  for (const level of queue.levels) {
    const enteredMs = level[0]?.enteredMs ?? Infinity;
    if (enteredMs < firstEnteredMs) {
      levelOfFirst = level;
      firstEnteredMs = enteredMs;
    }
  }
  return levelOfFirst;
}

const isInUse = (level: readonly WaitingRequest[]) => level.length > 0;

function unknownPriority(priority: PriorityClass): never {
  throw new Error(`Unknown priority ${priority}`);
}
