import { lookup as lookUpInDns } from "node:dns/promises";
import { createAddressBook, type Lookup } from "./upstream/address-book.ts";
import { type CallerSignal, createDeadline, type Deadline } from "./upstream/deadline.ts";
import { exchange, type ExchangeResult, type ResponseHeaders } from "./upstream/exchange.ts";
import type { Verdict } from "./upstream/replica-health.ts";
import { createReplicaSet, type Replica, type ReplicaObservation, type ReplicaSet } from "./upstream/replica-set.ts";
import { createRetryBudget, type RetryBudget, type RetryBudgetLimits } from "./upstream/retry-budget.ts";

export type { CallerSignal };

/** One service that is called, with all its replicas. */
export interface Upstream {
  /**
   * Sends one request and reads its whole answer. What goes wrong on the way is a result too.
   * @throws Error when the request itself cannot be sent, such as a header with a line break: a bug of the caller.
   */
  send(request: UpstreamRequest): Promise<UpstreamResult>;
  /** Ends the connections once nothing is under way. */
  close(): Promise<void>;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query, beginning with `/`. Default: those of the replica's URL. */
  readonly path?: string;
  /** By name, or names and values in turn. Sent as they are; `host` and `content-length` are added. */
  readonly headers: Readonly<Record<string, string>> | readonly string[];
  readonly body?: string | Buffer;
  /** Whether doing it twice is like doing it once (RFC 9110, section 9.2.2). Only then it is sent again after it may have arrived. */
  readonly isIdempotent: boolean;
  /** For everything: lookup, connection, retries, the whole body. 1 to 2^31 - 1. */
  readonly timeoutMs: number;
  /** The caller has gone: the request is cut off at once, at the replica too. */
  readonly signal?: CallerSignal;
}

export type UpstreamResult =
  /** Any status, a redirect too; `body` as it came, packed if the replica packed it. */
  | { readonly kind: "answered"; readonly status: number; readonly headers: ResponseHeaders; readonly body: Buffer }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly cause: unknown };

/**
 * - `refused`: no connection, so nothing was sent; also when there is no address.
 * - `reset`: the connection broke, or what came is no HTTP; the request may have arrived.
 * - `timeout`, `aborted`: `timeoutMs` passed, `signal` was aborted.
 * - `too-large`: the answer has more than `bodyBytesMax` bytes.
 * - `overloaded`: `requestsMax` are under way; nothing was sent.
 */
export type FailureReason = "refused" | "reset" | "timeout" | "aborted" | "too-large" | "overloaded";

/** What an upstream has to report. Replicas are named by URL and address, which is for logs and never for a client. */
export type UpstreamObservation =
  | ReplicaObservation
  /** `replica` failed, and another attempt of the same request begins. `status` where it answered. */
  | {
      readonly kind: "retried";
      readonly replica: string;
      readonly reason: "refused" | "reset" | "status";
      readonly status: number | undefined;
    }
  | { readonly kind: "lookup-failed"; readonly host: string; readonly cause: unknown };

export interface UpstreamOptions {
  /** http(s) URLs of the replicas, one at least. A host that is a name is looked up; each of its addresses is a replica. */
  readonly urls: readonly string[];
  /** A longer answer is cut. */
  readonly bodyBytesMax: number;
  /** Requests under way at once, over all replicas; more fail at once, none waits. Default 1,024. */
  readonly requestsMax?: number;
  /** Until a connection stands, TLS included. Rounded up to the next half second. Default 1,000. */
  readonly connectTimeoutMs?: number;
  /** How long the addresses of a name are believed. Default 5,000. */
  readonly resolveEveryMs?: number;
  /** Default: 0.1 a request, 5 a second, and at once as many as half of `requestsMax`: what a replica that dies may hold. */
  readonly retryBudget?: RetryBudgetLimits;
  readonly lookup?: Lookup;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly observe?: (observation: UpstreamObservation) => void;
}

/** Attempts of one request. With three, five broken connections in a hundred are one failed request in eight thousand. */
const attemptsMax = 3;

/** A gateway's words for "not me, not now" (RFC 9110, section 15.6): another replica may do better. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Calls one service over several replicas: the less loaded of two is chosen, one that keeps failing is left out for a growing pause,
 * idempotent requests are sent again within a budget. Redirects are not followed, answers not unpacked.
 */
export function createUpstream(o: UpstreamOptions): Upstream {
  const { requestsMax = 1_024, nowMs = () => performance.now(), observe = () => {} } = o;
  const { retryBudget = { perRequest: 0.1, perSecond: 5, burstMax: requestsMax / 2 } } = o;
  const replicas = createReplicaSet({
    connectionsMax: requestsMax,
    connectTimeoutMs: o.connectTimeoutMs ?? 1_000,
    nowMs,
    random: o.random ?? Math.random,
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
  const budget = createRetryBudget(retryBudget, nowMs);
  const sender: Sender = { replicas, budget, observe, bodyBytesMax: o.bodyBytesMax };
  let underWay = 0;

  async function send(request: UpstreamRequest): Promise<UpstreamResult> {
    if (underWay >= requestsMax) return failed("overloaded", new Error(`${requestsMax} requests are under way`));
    underWay++;
    const deadline = createDeadline(request.timeoutMs, request.signal);
    try {
      const lookup = addresses.refresh();
      if (lookup && !deadline.ended) await endOf(lookup, deadline);
      return await sendWithRetries(request, deadline, sender);
    } finally {
      underWay--;
      deadline.clear();
    }
  }

  return { send, close: () => replicas.close() };
}

interface Sender {
  readonly replicas: ReplicaSet;
  readonly budget: RetryBudget;
  readonly bodyBytesMax: number;
  readonly observe: (observation: UpstreamObservation) => void;
}

async function sendWithRetries(request: UpstreamRequest, deadline: Deadline, sender: Sender): Promise<UpstreamResult> {
  sender.budget.deposit();
  let replica = sender.replicas.choose(request.isIdempotent);
  const tried: Replica[] = [];
  let result: UpstreamResult | undefined;
  while (replica && !deadline.ended) {
    result = await attempt(request, replica, deadline, sender);
    const failure = readFailure(result);
    if (failure === undefined) break;
    tried.push(replica);
    replica = chooseForRetry(request, failure, tried, sender);
    if (replica) observeRetry(sender, tried, result, failure);
  }
  if (deadline.ended && result?.kind !== "answered") return { kind: "failed", ...deadline.ended };
  // An Error costs as much as sending does, for its stack trace: none is made before it is needed.
  return result ?? failed("refused", new Error("No address is known"));
}

async function attempt(request: UpstreamRequest, replica: Replica, deadline: Deadline, sender: Sender) {
  const begun = sender.replicas.begin(replica);
  let result: ExchangeResult | undefined;
  try {
    result = await exchange(replica, request, deadline, sender.bodyBytesMax);
    return result;
  } finally {
    const verdict = judge(result);
    sender.replicas.end(replica, begun, verdict, verdict === "bad" ? causeOf(result) : undefined);
  }
}

function causeOf(result: ExchangeResult | undefined): unknown {
  return result?.kind === "failed" ? result.cause : new Error("unavailable, said the replica itself");
}

/** Time that ran out counts against a replica too: one that is frozen breaks nothing, and never answers. */
function judge(result: ExchangeResult | undefined): Verdict {
  if (result === undefined) return "neither";
  if (result.kind === "answered") return unavailableStatuses.has(result.status) ? "bad" : "good";
  return result.reason === "aborted" || result.reason === "too-large" ? "neither" : "bad";
}

type Failure = "refused" | "reset" | "answered";

/** The replica for one more attempt, paid from the budget; undefined when the result is final. */
function chooseForRetry(
  { isIdempotent }: UpstreamRequest,
  failure: Failure,
  tried: readonly Replica[],
  { replicas, budget }: Sender,
): Replica | undefined {
  // What was refused never arrived: it may be sent again whatever it is, and costs no replica anything.
  if (tried.length >= attemptsMax || (failure !== "refused" && !isIdempotent)) return undefined;
  const next = replicas.chooseAgain(tried, failure);
  return next && (failure === "refused" || budget.take()) ? next : undefined;
}

function observeRetry({ observe }: Sender, tried: readonly Replica[], result: UpstreamResult, failure: Failure): void {
  const status = result.kind === "answered" ? result.status : undefined;
  const reason = failure === "answered" ? "status" : failure;
  observe({ kind: "retried", replica: tried.at(-1)?.name ?? "", reason, status });
}

/** Undefined when another attempt could do no better. */
function readFailure(result: UpstreamResult): Failure | undefined {
  if (result.kind === "answered") return unavailableStatuses.has(result.status) ? "answered" : undefined;
  return result.reason === "refused" || result.reason === "reset" ? result.reason : undefined;
}

/** Resolves when the work is done or the time is up, whichever is first. */
function endOf(work: Promise<void>, deadline: Deadline): Promise<void> {
  return new Promise((resolve) => {
    deadline.onEnd = () => resolve();
    void work.then(resolve);
  });
}

async function lookUpAll(host: string): Promise<readonly string[]> {
  return (await lookUpInDns(host, { all: true })).map(({ address }) => address);
}

function failed(reason: FailureReason, cause: unknown): UpstreamResult {
  return { kind: "failed", reason, cause };
}
