import { lookup as lookUpInDns } from "node:dns/promises";
import { createAddressBook, type Lookup, type ReplicaAddress } from "./address-book.ts";
import { knock } from "./knock.ts";
import { createReplicaSet, type Replica, type ReplicaObservation, type ReplicaSet } from "./replica-set.ts";
import { createRetryBudget, type RetryBudgetLimits } from "./retry-budget.ts";

export type { Replica, ReplicaAddress };

/** What there is to report of a service's replicas. They are named by URL and address, which is for logs and never for a client. */
export type ReplicaPickerObservation =
  | ReplicaObservation
  /** `replica` failed, and another attempt of the same request begins. `status` where it answered. */
  | {
      readonly kind: "retried";
      readonly replica: string;
      readonly reason: "refused" | "reset" | "status";
      readonly status: number | undefined;
    }
  /** `replica` failed, and nothing is left of the budget of retries: the failure stands. */
  | { readonly kind: "retry-refused"; readonly replica: string }
  | { readonly kind: "lookup-failed"; readonly host: string; readonly cause: unknown };

/**
 * How an attempt failed so that another replica may do better.
 * - `refused`: there was no connection, so nothing was sent.
 * - `reset`: the connection broke, or what came is no HTTP; the request may have arrived.
 * - `answered`: the replica said itself that it cannot.
 */
export type AttemptFailure = "refused" | "reset" | "answered";

export interface FailedAttempt<Connection> {
  /** All replicas that the request was sent to, the last attempt's at the end. */
  readonly tried: readonly Replica<Connection>[];
  readonly failure: AttemptFailure;
  /** Where the replica answered. */
  readonly status: number | undefined;
  readonly isIdempotent: boolean;
}

/** Chooses the replica for each attempt of a request, whatever it is sent by. */
export interface ReplicaPicker<Connection> extends Pick<ReplicaSet<Connection>, "look" | "begin" | "end" | "close"> {
  /** Called at each request. Undefined where there is something to choose from; else the caller has to wait for the lookup. */
  refresh(): Promise<void> | undefined;
  /** Undefined when no address is known. */
  choose(isIdempotent: boolean): Replica<Connection> | undefined;
  /** The replica for one more attempt, paid from the budget; undefined when the failure is final. */
  chooseAgain(failed: FailedAttempt<Connection>): Replica<Connection> | undefined;
}

export interface ReplicaPickerOptions<Connection> {
  /** http(s) URLs of the replicas, one at least. A host that is a name is looked up; each of its addresses is a replica. */
  readonly urls: readonly string[];
  /** How long the addresses of a name are believed. Default 5,000. */
  readonly resolveEveryMs?: number | undefined;
  readonly retryBudget: RetryBudgetLimits;
  readonly lookup?: Lookup | undefined;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random?: (() => number) | undefined;
  /** What leads to one replica. */
  open(address: ReplicaAddress): Connection;
  /** The replica gets no further request; what is under way there may end. */
  close(connection: Connection): Promise<void>;
  observe(observation: ReplicaPickerObservation): void;
}

/** Attempts of one request. With three, five broken connections in a hundred are one failed request in eight thousand. */
const attemptsMax = 3;
/** What a client waits at the most for an address that nobody has any more, where connecting would take until its own timeout. */
const knockTimeoutMs = 250;

/** The less loaded of two is chosen, one that keeps failing is left out for a growing pause, retries stay within a budget. */
export function createReplicaPicker<Connection>(o: ReplicaPickerOptions<Connection>): ReplicaPicker<Connection> {
  const { observe, nowMs, random = Math.random } = o;
  const replicas = createReplicaSet<Connection>({
    open: o.open,
    close: o.close,
    knock: lookForOne,
    nowMs,
    random,
    observe,
  });
  const addresses = createAddressBook({
    urls: o.urls,
    lookup: o.lookup ?? lookUpAll,
    resolveEveryMs: o.resolveEveryMs ?? 5_000,
    nowMs,
    onChanged: replicas.update,
    onLookupFailed: (host, cause) => observe({ kind: "lookup-failed", host, cause }),
  });
  const budget = createRetryBudget(o.retryBudget, nowMs);

  async function lookForOne(address: ReplicaAddress): Promise<boolean> {
    const isThere = await knock(address, knockTimeoutMs);
    if (!isThere) addresses.hurry();
    return isThere;
  }

  return {
    refresh: addresses.refresh,
    choose(isIdempotent) {
      budget.deposit();
      return replicas.choose(isIdempotent);
    },
    chooseAgain({ tried, failure, status, isIdempotent }) {
      // What was refused never arrived: it may be sent again whatever it is, and costs no replica anything.
      if (tried.length >= attemptsMax || (failure !== "refused" && !isIdempotent)) return undefined;
      const next = replicas.chooseAgain(tried, failure);
      if (!next) return undefined;
      const from = tried.at(-1)?.name ?? "";
      if (failure !== "refused" && !budget.take()) {
        observe({ kind: "retry-refused", replica: from });
        return undefined;
      }
      const reason = failure === "answered" ? "status" : failure;
      observe({ kind: "retried", replica: from, reason, status });
      return next;
    },
    look: replicas.look,
    begin: replicas.begin,
    end(replica, begun, verdict, cause) {
      if (verdict === "bad" || verdict === "leaving") addresses.hurry();
      replicas.end(replica, begun, verdict, cause);
    },
    close: replicas.close,
  };
}

async function lookUpAll(host: string): Promise<readonly string[]> {
  return (await lookUpInDns(host, { all: true })).map(({ address }) => address);
}
