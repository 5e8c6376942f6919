/** A request of the gateway to a subgraph, as `extensions.queryPlan` lists it (gateway/src/engine/run/fetch/fetch-reports.ts). */
export interface PlannedRequest {
  readonly subgraph: string;
  readonly outcome: "sent" | "retried" | "cached" | "shared" | "split" | "skipped" | "failed";
  readonly code?: string;
  readonly errors?: number;
  readonly fetches: readonly number[];
  readonly after: readonly number[];
  readonly paths: readonly string[];
  readonly operation: string;
  readonly entities?: number;
  readonly replica?: string;
  readonly attempts: number;
  /** Replica and reason. */
  readonly failedAttempts?: readonly string[];
  readonly startMilliseconds: number;
  readonly milliseconds: number;
  readonly bytes: number;
}

export interface Execution {
  readonly requestId: string | null;
  readonly traceId: string | null;
  /** Null in production, and for a response without it, such as a rejection. */
  readonly plan: readonly PlannedRequest[] | null;
}

/** The last execution, for React's `useSyncExternalStore`. */
export interface Executions {
  readonly last: () => Execution | null;
  readonly subscribe: (listener: () => void) => () => void;
  readonly add: (execution: Execution) => void;
}

export function createExecutions(): Executions {
  const listeners = new Set<() => void>();
  let last: Execution | null = null;
  return {
    last: () => last,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add(execution) {
      last = execution;
      for (const listener of listeners) listener();
    },
  };
}

export interface TreeRow {
  readonly request: PlannedRequest;
  readonly depth: number;
}

/** Each request below the one that it waited for; if it waited for several, below the last that ended before it. */
export function toTree(plan: readonly PlannedRequest[]): readonly TreeRow[] {
  const childrenOf = Map.groupBy(plan, (request) => findParent(request, plan));
  const rowsBelow = (parent: PlannedRequest | undefined, depth: number): readonly TreeRow[] =>
    (childrenOf.get(parent) ?? []).flatMap((request) => [{ request, depth }, ...rowsBelow(request, depth + 1)]);
  return rowsBelow(undefined, 0);
}

/** The gateway rounds to hundredths: the sum of a start and a duration can be later than what waited for it. */
const roundingMs = 0.02;

function findParent(
  { after, startMilliseconds: start }: PlannedRequest,
  plan: readonly PlannedRequest[],
): PlannedRequest | undefined {
  const endOf = ({ startMilliseconds, milliseconds }: PlannedRequest) => startMilliseconds + milliseconds;
  return plan
    .filter((request) => endOf(request) <= start + roundingMs && request.fetches.some((fetch) => after.includes(fetch)))
    .toSorted((a, b) => endOf(a) - endOf(b))
    .at(-1);
}
