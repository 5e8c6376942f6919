// The requests that wait for admission, by level: a priority and a bucket of the caller's recent CPU time.
import { bucketCount } from "./caller-costs.ts";
import { type PriorityClass, priorityClasses } from "./priority.ts";

export interface WaitingRequest {
  readonly enteredMs: number;
  /** Called once: true if the request is admitted. */
  readonly decide: (isAdmitted: boolean) => void;
}

/** Of the requests that leave by `take`, each tenth is a normal one and another tenth a background one if one waits, so that none starves. */
const turnsMax = 10;
const reservedTurns: Readonly<Record<number, PriorityClass>> = { 4: "normal", 9: "background" };

export interface WaitingRequests {
  readonly length: number;
  add(priority: PriorityClass, bucket: number, request: WaitingRequest): void;
  /** Removes the most important request. @param order among equally important ones; critical requests, which never expire, leave in their order. */
  take(order: "oldest" | "newest"): WaitingRequest | undefined;
  /** Removes the oldest of the least important requests. */
  drop(): WaitingRequest | undefined;
  /** Removes a request that has waited since before `enteredMs`, and is not critical. */
  takeExpired(enteredMs: number): WaitingRequest | undefined;
}

export function createWaitingRequests(): WaitingRequests {
  // The most important level first. Requests of a level are in the order of their arrival.
  const levels = Array.from({ length: priorityClasses.length * bucketCount }, (): WaitingRequest[] => []);
  let length = 0;
  let turn = 0;

  function firstLevel(from: number): WaitingRequest[] | undefined {
    for (let at = from; at < levels.length; at++) if (levels[at]?.length) return levels[at];
    return undefined;
  }

  function nextLevel(): WaitingRequest[] | undefined {
    turn = (turn + 1) % turnsMax;
    const reserved = reservedTurns[turn];
    return (reserved && firstLevel(priorityClasses.indexOf(reserved) * bucketCount)) ?? firstLevel(0);
  }

  function isCritical(level: WaitingRequest[] | undefined): boolean {
    return level !== undefined && levels.indexOf(level) < bucketCount;
  }

  function remove(level: WaitingRequest[] | undefined, order: "oldest" | "newest"): WaitingRequest | undefined {
    if (level === undefined) return undefined;
    length--;
    return order === "oldest" ? level.shift() : level.pop();
  }

  return {
    get length() {
      return length;
    },
    add(priority, bucket, request) {
      levels[priorityClasses.indexOf(priority) * bucketCount + bucket]?.push(request);
      length++;
    },
    take(order) {
      const level = nextLevel();
      return remove(level, isCritical(level) ? "oldest" : order);
    },
    drop: () =>
      remove(
        levels.findLast((level) => level.length > 0),
        "oldest",
      ),
    takeExpired(enteredMs) {
      for (let at = bucketCount; at < levels.length; at++) {
        const level = levels[at];
        if (level?.[0] && level[0].enteredMs < enteredMs) return remove(level, "oldest");
      }
      return undefined;
    },
  };
}
