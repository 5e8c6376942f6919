// How requests of the gateway and the REST proxy reach a service: choice of a replica, attempts, retries. A transport sends each attempt.
import type { AbortSignalLike } from "../http/abort-source.ts";
import { Readable } from "node:stream";
import { deadlineHeader } from "../http/deadline.ts";
import type { Span } from "../telemetry/tracing/trace.ts";
import { type AddressBook, createAddressBook, type ResolveHost, type ReplicaAddress } from "./addresses.ts";
import { rejectInvalid, toCause, toOutcome, toRetryReason } from "./attempt-result.ts";
import { endAttemptSpan, startAttemptSpan, type TracedRequest } from "./attempt-span.ts";
import { type AttemptTimer, createAttemptTimer } from "./attempt-timer.ts";
import { createDeadline, type RequestDeadline, type EndReason, waitWithin } from "./request-deadline.ts";
import { createLatencyWindow, type LatencyWindow } from "./latency-window.ts";
import type { AttemptOutcome, AttemptRole } from "./replica-health.ts";
import {
  createReplicaSet,
  type Replica,
  type ReplicaObservation,
  type ReplicaSet,
  type RetryReason,
} from "./replica-set.ts";
import { createRetryBudget, defaultRetryBudget, type RetryBudget, type RetryBudgetLimits } from "./retry-budget.ts";
import type {
  ResponseBody,
  Transport,
  TransportFailure,
  TransportRequest,
  TransportResponse,
  TransportResult,
} from "./transport.ts";

/** One service with all its replicas. `Connection` is what a transport needs to reach one replica, such as a pool of TCP connections. */
export interface Upstream<Connection> {
  /** Whether `requestsMax` requests are in flight: the next one fails as `overloaded`. */
  readonly isFull: boolean;
  /**
   * Sends one request. A failure is a result too.
   * @throws Error if the request cannot be sent at all, such as a header with a line break: a bug of the caller.
   */
  send<Body extends ResponseBody>(
    request: UpstreamRequest,
    transport: Transport<Connection, Body>,
  ): Promise<UpstreamResult<Body>>;
  /**
   * Takes a retry from the budget, for a caller that sends a further request because `replica` rejected one. Reported as `retried`.
   * @returns false if none is left, which is reported too.
   */
  takeRetry(replica: string): boolean;
  /** Closes the connections once no request is in flight. */
  close(): Promise<void>;
}

export interface UpstreamRequest extends TransportRequest {
  /** A request that is not idempotent (RFC 9110, section 9.2.2) is sent again only if no byte of it was sent. */
  readonly isIdempotent: boolean;
  /** For everything: lookup, connection, retries, the whole body. 1 to 2^31 - 1. */
  readonly timeoutMs: number;
  /** Whether each attempt sends the remaining time, as `X-Deadline-Ms`. Default false. */
  readonly sendsDeadline?: boolean;
  /** Aborts the request, at the replica too. */
  readonly signal?: AbortSignalLike;
  /** Each attempt becomes a span and sends its `traceparent`: `headers` must contain none. Undefined if the request is not traced. */
  readonly traced?: TracedRequest | undefined;
}

export type UpstreamResult<Body extends ResponseBody> = UpstreamResponse<Body> | UpstreamFailure;

/** A response of any final status; redirects are not followed. */
export interface UpstreamResponse<Body extends ResponseBody> extends TransportResponse<Body> {
  /** The replica that sent it, by URL and address. */
  readonly replica: string;
  /** Undefined if `body` is a Buffer. */
  readonly pendingBody: PendingBody | undefined;
}

/** A body that is not yet received. The caller must watch the deadline, and call `finish` once. */
export interface PendingBody {
  readonly deadline: RequestDeadline;
  /** @param outcome what the body means for the replica's health. */
  finish(outcome: AttemptOutcome, cause?: unknown): void;
}

export interface UpstreamFailure {
  readonly kind: "failed";
  /** The last replica that the request was sent to, by URL and address; undefined if there was none. */
  readonly replica: string | undefined;
  /**
   * - `refused`: no replica accepted a connection, or no address is known; nothing was sent.
   * - `reset`: the connection broke, or the response is not HTTP; the request may have been processed.
   * - `too-large`: the response is longer than the transport allows.
   * - `overloaded`: `requestsMax` requests are in flight; nothing was sent.
   * - `timeout`: the request's deadline has passed, or no attempt got a response in time. `aborted`: the caller aborted it.
   */
  readonly reason: "refused" | "reset" | "too-large" | "overloaded" | EndReason;
  readonly cause: unknown;
}

/** Replicas are named by URL and address: for logs, never for clients. */
export type UpstreamObservation =
  | ReplicaObservation
  /** `replica` failed, and the request is sent again. `status` if it responded. `rejected`: by `Upstream.takeRetry`. */
  | {
      readonly kind: "retried";
      readonly replica: string;
      readonly reason: RetryReason | "rejected";
      readonly status: number | undefined;
    }
  /** `replica` failed or is slow, and the request is not sent again: the retry budget is used up. */
  | { readonly kind: "retry-over-budget"; readonly replica: string }
  | { readonly kind: "dns-lookup-failed"; readonly host: string; readonly cause: unknown };

export interface UpstreamOptions<Connection> {
  /** http(s) URLs of the replicas, at least one. Each address of a host name is a replica. */
  readonly urls: readonly string[];
  /** Requests in flight at once, over all replicas; further ones fail at once. Default 1,024. */
  readonly requestsMax?: number | undefined;
  /** Milliseconds between two lookups of the host names. Default 5,000. */
  readonly resolveEveryMs?: number | undefined;
  /** Default: `defaultRetryBudget(requestsMax)`. */
  readonly retryBudget?: RetryBudgetLimits | undefined;
  /** Default: the lookup of the operating system. */
  readonly resolveHost?: ResolveHost | undefined;
  /** A monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
  /** In [0, 1). */
  readonly random?: (() => number) | undefined;
  readonly observe?: ((observation: UpstreamObservation) => void) | undefined;
  /** Opens the connection, or the pool of connections, to one replica. */
  open(address: ReplicaAddress): Connection;
  /** Resolves once no request is in flight on it. */
  close(connection: Connection): Promise<void>;
}

/** Attempts of one request. If 5 % of the attempts fail, one request in 8,000 fails in all three (0.05³). */
const attemptsMax = 3;

/**
 * - Choice: the less loaded of two random replicas; one that keeps failing is ejected for a growing pause (`replica-health.ts`).
 * - Retries, at most two, within a budget: idempotent requests after a broken connection, a 502, 503 or 504 without `Retry-After`, or an attempt
 *   without a response in time. A request that was not sent, since there was no connection, goes to another replica whatever its method, and costs
 *   no budget.
 * - Deadlines: one per request; one per attempt (`attempt-timer.ts`), until the head of the response, if another healthy replica remains untried. The
 *   third attempt has none. A late attempt continues if the request was sent and is not idempotent, or if the budget is empty: its timer is not
 *   started again.
 */
export function createUpstream<Connection>(options: UpstreamOptions<Connection>): Upstream<Connection> {
  return new ReplicatedUpstream(options);
}

/** One request and its attempts so far. */
interface RequestInProgress<Connection, Body extends ResponseBody> {
  readonly request: UpstreamRequest;
  readonly transport: Transport<Connection, Body>;
  readonly deadline: RequestDeadline;
  readonly endsAtMs: number;
  /** The replica of each attempt, in their order. A replica may occur twice: after a broken connection, a new one to the same replica may work. */
  readonly tried: Replica<Connection>[];
}

interface Attempt<Connection> {
  readonly replica: Replica<Connection>;
  readonly role: AttemptRole;
  readonly startedAtMs: number;
}

type AttemptResult<Body extends ResponseBody> =
  | UpstreamResponse<Body>
  | (TransportFailure & { readonly replica: string });

class ReplicatedUpstream<Connection> implements Upstream<Connection> {
  readonly #requestsMax: number;
  readonly #nowMs: () => number;
  readonly #observe: (observation: UpstreamObservation) => void;
  readonly #replicas: ReplicaSet<Connection>;
  readonly #addresses: AddressBook;
  readonly #budget: RetryBudget;
  readonly #latencies: LatencyWindow;
  readonly #attemptTimer: AttemptTimer<Connection>;
  #inFlight = 0;

  constructor(o: UpstreamOptions<Connection>) {
    const { requestsMax = 1_024, nowMs = () => performance.now(), random = Math.random, observe = () => {} } = o;
    this.#requestsMax = requestsMax;
    this.#nowMs = nowMs;
    this.#observe = observe;
    this.#replicas = createReplicaSet<Connection>({ open: o.open, close: o.close, nowMs, random, observe });
    this.#addresses = createAddressBook({
      urls: o.urls,
      resolveHost: o.resolveHost,
      resolveEveryMs: o.resolveEveryMs,
      nowMs,
      onResolved: this.#replicas.update,
      onLookupFailed: (host, cause) => observe({ kind: "dns-lookup-failed", host, cause }),
    });
    this.#budget = createRetryBudget(o.retryBudget ?? defaultRetryBudget(requestsMax), nowMs);
    this.#latencies = createLatencyWindow(nowMs);
    this.#attemptTimer = createAttemptTimer({
      latencies: this.#latencies,
      replicas: this.#replicas,
      takeRetry: (replica) => this.#takeRetry(replica),
    });
  }

  get isFull(): boolean {
    return this.#inFlight >= this.#requestsMax;
  }

  takeRetry(replica: string): boolean {
    const isTaken = this.#takeRetry(replica);
    if (isTaken) this.#observe({ kind: "retried", replica, reason: "rejected", status: undefined });
    return isTaken;
  }

  close(): Promise<void> {
    return this.#replicas.close();
  }

  async send<Body extends ResponseBody>(request: UpstreamRequest, transport: Transport<Connection, Body>) {
    if (this.isFull) return failed("overloaded", undefined, new Error(`${this.#requestsMax} requests are in flight`));
    this.#inFlight++;
    const deadline = createDeadline(request.timeoutMs, request.signal);
    const endsAtMs = this.#nowMs() + request.timeoutMs;
    let result: UpstreamResult<Body> | undefined;
    try {
      const lookup = this.#addresses.refresh();
      // A request that was aborted before this call has ended already: `waitWithin` would not notice it.
      if (lookup && !deadline.ended) await waitWithin(deadline, lookup);
      result = await this.#sendWithRetries({ request, transport, deadline, endsAtMs, tried: [] });
      return result;
    } finally {
      // While a body is pending, the request is in flight: the caller's `finish` releases it.
      const hasPendingBody = result?.kind === "response" && result.pendingBody !== undefined;
      if (!hasPendingBody) this.#release(deadline);
    }
  }

  #release(deadline: RequestDeadline): void {
    this.#inFlight--;
    deadline.clear();
  }

  /**
   * Sends the request until an attempt succeeds or no other is possible. If none succeeds, a response has more information for the client than a
   * broken connection, so the last buffered response is returned, else the last failure.
   */
  async #sendWithRetries<Body extends ResponseBody>(
    inProgress: RequestInProgress<Connection, Body>,
  ): Promise<UpstreamResult<Body>> {
    const { request, deadline, tried } = inProgress;
    /** What is returned if no attempt succeeds. */
    let fallback: AttemptResult<Body> | undefined;
    this.#budget.deposit();
    let replica = this.#replicas.choose(request.isIdempotent);
    while (replica && !deadline.ended) {
      const result = await this.#attempt(replica, inProgress);
      const reason = toRetryReason(result);
      replica = reason === undefined ? undefined : this.#chooseNext(inProgress, reason, result);
      if (result.kind === "failed") {
        if (fallback?.kind !== "response") fallback = result;
        continue;
      }
      if (!replica) return result;
      // A streamed response is dropped: its body would occupy the connection until the next attempt ends. Its `finish` is never called, since
      // `#completeAttempt` has reported the failure, and `send`, or the `finish` of a later response, releases the request.
      if (result.body instanceof Readable) result.body.destroy();
      else fallback = result;
    }
    if (fallback?.kind === "response") return fallback;
    if (deadline.ended) return failed(deadline.ended.reason, tried.at(-1)?.name, deadline.ended.cause);
    // There was no attempt. The Error is created only now, since its stack trace costs as much as a whole attempt.
    if (!fallback) return failed("refused", undefined, new Error("No address is known"));
    // For the caller an attempt without a response in time is a timeout of the request, also if the request has time left.
    const reason = fallback.reason === "attempt-timeout" ? "timeout" : fallback.reason;
    return failed(reason, fallback.replica, fallback.cause);
  }

  async #attempt<Body extends ResponseBody>(
    replica: Replica<Connection>,
    inProgress: RequestInProgress<Connection, Body>,
  ): Promise<AttemptResult<Body>> {
    const { request, transport, deadline, tried } = inProgress;
    const { traced, method } = request;
    const role = this.#replicas.startAttempt(replica);
    const startedAtMs = this.#nowMs();
    const span = traced && startAttemptSpan(traced, { method, replica, resends: tried.length });
    tried.push(replica);
    const isLast = tried.length >= attemptsMax;
    const timer = isLast ? undefined : this.#attemptTimer.start(inProgress, startedAtMs);
    let result: TransportResult<Body> | undefined;
    try {
      const transportRequest = toTransportRequest(request, inProgress.endsAtMs - startedAtMs, span);
      result = rejectInvalid(await transport(replica, transportRequest, deadline));
    } finally {
      clearTimeout(timer);
      if (span) endAttemptSpan(span, result);
      // The transport threw: a bug of the caller, such as an invalid header.
      if (!result) this.#replicas.endAttempt(replica, role, "inconclusive");
    }
    return this.#completeAttempt(result, { replica, role, startedAtMs }, inProgress);
  }

  /**
   * Reports the attempt's outcome to the replica's health and records its latency. The outcome of a successful streamed response is reported when
   * the caller calls `finish`, since its body may still break.
   */
  #completeAttempt<Body extends ResponseBody>(
    result: TransportResult<Body>,
    attempt: Attempt<Connection>,
    { request, deadline }: RequestInProgress<Connection, Body>,
  ): AttemptResult<Body> {
    const { name } = attempt.replica;
    const latencyMs = this.#nowMs() - attempt.startedAtMs;
    const outcome = toOutcome(result, latencyMs);
    const isFailure = outcome === "failure" || outcome === "timeout";
    const isStreamed = result.kind === "response" && result.body instanceof Readable;
    if (isFailure || !isStreamed) this.#endAttempt(attempt, outcome, isFailure ? toCause(result) : undefined);
    if (result.kind === "failed") return { ...result, replica: name };
    if (request.isIdempotent && !isFailure) this.#latencies.record(latencyMs);
    if (!isStreamed) return { ...result, replica: name, pendingBody: undefined };
    const finish: PendingBody["finish"] = (bodyOutcome, cause) => {
      // After a complete body the outcome remains that of the head: `success` or `draining`.
      if (!isFailure) this.#endAttempt(attempt, bodyOutcome === "success" ? outcome : bodyOutcome, cause);
      this.#release(deadline);
    };
    return { ...result, replica: name, pendingBody: { deadline, finish } };
  }

  #endAttempt({ replica, role }: Attempt<Connection>, outcome: AttemptOutcome, cause: unknown): void {
    // A replica that fails or drains may be replaced by one with another address.
    if (outcome !== "success" && outcome !== "inconclusive") this.#addresses.refreshSoon();
    this.#replicas.endAttempt(replica, role, outcome, cause);
  }

  /** Chooses the replica for one more attempt, takes the retry from the budget, and reports it. Undefined if there is no further attempt. */
  #chooseNext<Body extends ResponseBody>(
    { request, tried }: RequestInProgress<Connection, Body>,
    reason: RetryReason,
    failedAttempt: AttemptResult<Body>,
  ): Replica<Connection> | undefined {
    if (tried.length >= attemptsMax) return undefined;
    // A refused request was not sent: it may be sent again whatever its method, and costs no budget, since no replica has worked on it.
    const wasSent = reason !== "refused";
    if (wasSent && !request.isIdempotent) return undefined;
    const next = this.#replicas.chooseNext(tried, reason);
    if (!next) return undefined;
    // After a timeout, `attempt-timer.ts` has taken the retry already.
    const costsRetry = wasSent && reason !== "timeout";
    if (costsRetry && !this.#takeRetry(failedAttempt.replica)) return undefined;
    const status = failedAttempt.kind === "response" ? failedAttempt.status : undefined;
    this.#observe({ kind: "retried", replica: failedAttempt.replica, reason, status });
    return next;
  }

  /** Takes a retry from the budget. False if none is left, which is reported. */
  #takeRetry(replica: string): boolean {
    const isTaken = this.#budget.takeRetry();
    if (!isTaken) this.#observe({ kind: "retry-over-budget", replica });
    return isTaken;
  }
}

function toTransportRequest(request: UpstreamRequest, remainingMs: number, span: Span | undefined): TransportRequest {
  if (!span && !request.sendsDeadline) return request;
  const headers = [...request.headers];
  if (request.sendsDeadline) headers.push(deadlineHeader, String(Math.max(1, Math.floor(remainingMs))));
  if (span) headers.push("traceparent", span.traceParent);
  return { ...request, headers };
}

function failed(reason: UpstreamFailure["reason"], replica: string | undefined, cause: unknown): UpstreamFailure {
  return { kind: "failed", replica, reason, cause };
}
