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
  /** Replica and reason: `http://localhost:4003/graphql refused`. */
  readonly failedAttempts?: readonly string[];
  /** Why no attempt was made. */
  readonly notSent?: string;
  /** Since the client's request arrived. */
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
  /** The others that it waited for. */
  readonly otherParents: readonly PlannedRequest[];
}

/** Each request below the one that it waited for; if it waited for several, below the last that ended before it. */
export function toTree(plan: readonly PlannedRequest[]): readonly TreeRow[] {
  const parentsOf = new Map(plan.map((request) => [request, findParents(request, plan)]));
  const childrenOf = Map.groupBy(plan, (request) => parentsOf.get(request)?.at(-1));
  const rowsBelow = (parent: PlannedRequest | undefined, depth: number): readonly TreeRow[] =>
    (childrenOf.get(parent) ?? []).flatMap((request) => {
      const otherParents = parentsOf.get(request)?.slice(0, -1) ?? [];
      return [{ request, depth, otherParents }, ...rowsBelow(request, depth + 1)];
    });
  return rowsBelow(undefined, 0);
}

/** The gateway rounds to hundredths: the sum of a start and a duration can be later than what waited for it. */
const roundingMs = 0.02;

/** In the order of their ends. */
function findParents(
  { after, startMilliseconds: start }: PlannedRequest,
  plan: readonly PlannedRequest[],
): readonly PlannedRequest[] {
  const endOf = ({ startMilliseconds, milliseconds }: PlannedRequest) => startMilliseconds + milliseconds;
  return plan
    .filter((request) => endOf(request) <= start + roundingMs && request.fetches.some((fetch) => after.includes(fetch)))
    .toSorted((a, b) => endOf(a) - endOf(b));
}

/** From the request's arrival until the first fetch: waiting, validating and planning. Undefined if it is at most 5 % of the time until the last. */
export function findPreparation(plan: readonly PlannedRequest[]): number | undefined {
  const firstStartMs = Math.min(...plan.map(({ startMilliseconds }) => startMilliseconds));
  return firstStartMs > 0.05 * findEnd(plan) ? firstStartMs : undefined;
}

export function findEnd(plan: readonly PlannedRequest[]): number {
  return Math.max(...plan.map(({ startMilliseconds, milliseconds }) => startMilliseconds + milliseconds));
}

/** Why a request that got a response has more than one attempt. */
export function explainAttempts({ outcome, attempts }: PlannedRequest): string | undefined {
  if (outcome === "retried") return "The request was sent again after the failed attempt.";
  if (outcome !== "sent" || attempts === 1) return undefined;
  return "The entity cache sent one request without the token, and another with it for what depends on the caller.";
}

export function describeFailedAttempt(attempt: string): string {
  return attempt
    .replace(/ attempt-timeout$/, ": no response in time")
    .replace(/ breaker-open$/, ": no response, then the breaker opened");
}
