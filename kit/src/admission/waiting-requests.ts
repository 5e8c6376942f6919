// The queue of admission.ts: requests by level, which is a priority class and a bucket of the caller's recent CPU time (caller-costs.ts).
import { bucketCount } from "./caller-costs.ts";
import { type PriorityClass, priorityClasses } from "./priority.ts";

export interface WaitingRequest {
  readonly enteredMs: number;
  /** Called once: true if the request is admitted. */
  readonly decide: (isAdmitted: boolean) => void;
}

/**
 * Which request of a class `take` removes. `arrival`: the oldest, whatever its caller. `oldest` and `newest`: the oldest or the newest of the lowest
 * bucket in use; of critical requests always the oldest.
 */
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
   * for their reserved turns.
   * @param criticalMax critical requests are removed only above this number.
   * @returns undefined if no request may be removed.
   */
  drop(criticalMax: number): WaitingRequest | undefined;
  /** Whether `drop` would remove another request if this one was added. */
  outranks(priority: PriorityClass, bucket: number): boolean;
  /** Removes a request that has waited since before `enteredMs`, or a critical one since before `criticalEnteredMs`. */
  takeExpired(enteredMs: number, criticalEnteredMs: number): WaitingRequest | undefined;
}

/** The waiting requests of one priority. */
interface Line {
  readonly priority: PriorityClass;
  /** By bucket, least CPU time first. The requests of each level are in the order of their arrival. */
  readonly levels: WaitingRequest[][];
  length: number;
}

export function createWaitingRequests(): WaitingRequests {
  const lines = priorityClasses.map((priority): Line => {
    return { priority, levels: Array.from({ length: bucketCount }, () => []), length: 0 };
  });
  let length = 0;
  let turn = 0;

  function lineOf(priority: PriorityClass): Line {
    return lines.find((line) => line.priority === priority) ?? unknownPriority(priority);
  }

  function nextLine(): Line | undefined {
    turn = (turn + 1) % turnsMax;
    const reserved = reservedTurns[turn];
    const reservedLine = reserved && lineOf(reserved);
    return reservedLine?.length ? reservedLine : lines.find((line) => line.length > 0);
  }

  function remove(line: Line, level: WaitingRequest[] | undefined, order: "oldest" | "newest") {
    if (level === undefined) return undefined;
    length--;
    line.length--;
    return order === "oldest" ? level.shift() : level.pop();
  }

  return {
    get length() {
      return length;
    },
    add(priority, bucket, request) {
      const line = lineOf(priority);
      line.levels[bucket]?.push(request);
      line.length++;
      length++;
    },
    take(order) {
      const line = nextLine();
      if (order === "arrival") return line && remove(line, levelOfOldest(line), "oldest");
      return line && remove(line, line.levels.find(isInUse), line.priority === "critical" ? "oldest" : order);
    },
    drop(criticalMax) {
      const line = lines.findLast((each) => each.length > (each.priority === "critical" ? criticalMax : 1));
      return line && remove(line, line.levels.findLast(isInUse), "oldest");
    },
    outranks(priority, bucket) {
      const lowest = lines.findLast((line) => line.priority === priority || line.length > 1);
      // True if a lower class can lose a request. Otherwise a critical request always gets a place, any other request only as the first of its class,
      // or if its class can lose a request of a higher bucket.
      if (lowest === undefined || lowest.priority !== priority) return true;
      return priority === "critical" || lowest.levels.findLastIndex(isInUse) > bucket || lowest.length === 0;
    },
    takeExpired(enteredMs, criticalEnteredMs) {
      for (const line of lines) {
        const beforeMs = line.priority === "critical" ? criticalEnteredMs : enteredMs;
        const level = line.levels.find(([oldest]) => isBefore(oldest, beforeMs));
        if (level) return remove(line, level, "oldest");
      }
      return undefined;
    },
  };
}

/** The level with the request that entered first. The line is not empty: `reduce` would throw. */
function levelOfOldest({ levels }: Line): WaitingRequest[] | undefined {
  const enteredMs = (level: readonly WaitingRequest[]) => level[0]?.enteredMs ?? Infinity;
  return levels.filter(isInUse).reduce((oldest, level) => (enteredMs(level) < enteredMs(oldest) ? level : oldest));
}

const isInUse = (level: readonly WaitingRequest[]) => level.length > 0;

function isBefore(request: WaitingRequest | undefined, enteredMs: number): boolean {
  return request !== undefined && request.enteredMs < enteredMs;
}

function unknownPriority(priority: PriorityClass): never {
  throw new Error(`Unknown priority ${priority}`);
}
