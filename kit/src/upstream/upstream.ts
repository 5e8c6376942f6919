// How requests reach a service: choice of a replica, attempts, retries.
import { type InFlightEntry, InFlightList } from "../collections/in-flight-list.ts";
import type { AbortSignalLike } from "../http/abort-source.ts";
import { Readable } from "node:stream";
import { deadlineHeader, toServiceDeadline } from "../http/deadline.ts";
import type { UpstreamStatus } from "../process/process-status.ts";
import type { Span } from "../telemetry/tracing/trace.ts";
import { type AddressBook, createAddressBook, type ResolveHost, type ReplicaAddress } from "./addresses.ts";
import { rejectInvalid, toCause, toOutcome, toRetryReason } from "./attempt-result.ts";
import { endAttemptSpan, startAttemptSpan, type TracedRequest } from "./attempt-span.ts";
import { type AttemptTimer, createAttemptTimer } from "./attempt-timer.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { createDeadline, type RequestDeadline, type EndReason, waitWithin } from "./request-deadline.ts";
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

/** `Connection` is what a transport needs to reach one replica, such as a pool. */
export interface Upstream<Connection> {
  /** Whether a request of this caller fails as `overloaded`. */
  isFull(caller: string | undefined): boolean;
  /** A failure is a result too. @throws Error if the request cannot be sent at all: a bug of the caller. */
  send<Body extends ResponseBody>(
    request: UpstreamRequest,
    transport: Transport<Connection, Body>,
  ): Promise<UpstreamResult<Body>>;
  /** Of a caller that waits for the result of another one's `send`. @param atMs by the clock of `nowMs`. */
  noteShared(atMs: number): void;
  /** For a further request because `replica` rejected one. @returns false if no retry is left; both are reported. */
  takeRetry(replica: string): boolean;
  /** The first request looks up the host names. */
  readStatus(): UpstreamStatus;
  close(): Promise<void>;
}

export interface UpstreamRequest extends TransportRequest {
  /** Otherwise it is sent again only if no byte of it was sent (RFC 9110, section 9.2.2). */
  readonly isIdempotent: boolean;
  /** For everything, with the whole body. 1 to 2^31 - 1. */
  readonly timeoutMs: number;
  /** Who gets its share of `requestsMax`. Undefined: a request of the process itself, without a share. */
  readonly caller?: string | undefined;
  /** Its `endsAtMs` limits the time that the service is given. */
  readonly signal?: AbortSignalLike;
  /** Each attempt becomes a span and sends its `traceparent`: `headers` must contain none. */
  readonly traced?: TracedRequest | undefined;
}

export type UpstreamResult<Body extends ResponseBody> = UpstreamResponse<Body> | UpstreamFailure;

/** Of any final status; redirects are not followed. */
export interface UpstreamResponse<Body extends ResponseBody> extends TransportResponse<Body> {
  readonly replica: string;
  /** Without those whose connection was refused. If there are several, the service may still process an earlier one. */
  readonly attempts: number;
  /** Undefined if `body` is a Buffer. */
  readonly pendingBody: PendingBody | undefined;
}

/** The caller must watch the deadline, and call `finish` once. */
export interface PendingBody {
  readonly deadline: RequestDeadline;
  finish(outcome: AttemptOutcome, cause?: unknown): void;
}

export interface UpstreamFailure {
  readonly kind: "failed";
  readonly replica: string | undefined;
  /**
   * As in `TransportFailure`. `overloaded`: nothing was sent. `breaker-open`: nothing was sent, or it is idempotent. `refused`: also if no address
   * is known. `timeout`: also if no attempt got a response in time.
   */
  readonly reason: "refused" | "reset" | "too-large" | "overloaded" | EndReason;
  readonly cause: unknown;
}

export type UpstreamObservation =
  | ReplicaObservation
  /** `status` if the replica responded. `rejected`: by `Upstream.takeRetry`. */
  | {
      readonly kind: "retried";
      readonly replica: string;
      readonly reason: RetryReason | "rejected";
      readonly status: number | undefined;
    }
  | { readonly kind: "retry-over-budget"; readonly replica: string }
  | { readonly kind: "breaker-changed"; readonly isOpen: boolean }
  | { readonly kind: "dns-lookup-failed"; readonly host: string; readonly cause: unknown };

export interface UpstreamOptions<Connection> {
  /** http(s); each address of a host name is a replica. */
  readonly urls: readonly string[];
  /** In flight, over all replicas. Default 1,024. A caller gets at most three times as many as remain free. */
  readonly requestsMax?: number | undefined;
  /** Of one request, the first included. Default 3: if 5 % of the attempts fail, one request in 8,000 fails in all three (0.05³). */
  readonly attemptsMax?: number | undefined;
  /** Between two lookups of the host names. Default 5,000. */
  readonly resolveEveryMs?: number | undefined;
  readonly retryBudget?: RetryBudgetLimits | undefined;
  readonly resolveHost?: ResolveHost | undefined;
  readonly nowMs?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
  readonly observe?: ((observation: UpstreamObservation) => void) | undefined;
  open(address: ReplicaAddress): Connection;
  close(connection: Connection): Promise<void>;
  /** Of the probes while the service is silent. */
  readonly probeTransport: Transport<Connection, ResponseBody>;
}

/** Any response, such as 404 or 401 of a service without this path, shows that the replica is alive. */
const probeRequest: TransportRequest = { method: "GET", path: "/health/live", headers: [] };
const noResponseError = new Error("No replica responds, not to probes either");

const defaultAttemptsMax = 3;
/**
 * A caller holds at most so many times the free places (dynamic thresholds: Choudhury and Hahne, 1998). So one caller alone gets three quarters of all,
 * two get three sevenths each, and a few places always remain for a caller that has none.
 */
const shareOfFree = 3;

/**
 * Retries, within a budget: idempotent requests after a broken connection, a 502, 503 or 504 without `Retry-After`, or an attempt without a response
 * in time (only if another healthy replica remains untried; the third attempt has no such deadline). A request that was not sent goes to another
 * replica whatever its method, and costs no budget.
 */
export function createUpstream<Connection>(options: UpstreamOptions<Connection>): Upstream<Connection> {
  return new ReplicatedUpstream(options);
}

interface RequestInProgress<Connection, Body extends ResponseBody> {
  readonly place: Place;
  readonly request: UpstreamRequest;
  readonly transport: Transport<Connection, Body>;
  readonly deadline: RequestDeadline;
  readonly endsAtMs: number;
  /** In their order. After a broken connection, a new one to the same replica may work, so a replica may occur twice. */
  readonly tried: Replica<Connection>[];
  /** Attempts without a connection, of which nothing was sent. */
  refusals: number;
}

/** Of the `requestsMax`, by caller. */
type Place = InFlightEntry<string | undefined>;

interface Attempt<Connection> {
  readonly replica: Replica<Connection>;
  readonly role: AttemptRole;
  readonly startedAtMs: number;
  readonly span: Span | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  readonly request: TransportRequest;
}

type AttemptResult<Body extends ResponseBody> =
  | UpstreamResponse<Body>
  | (TransportFailure & { readonly replica: string });

class ReplicatedUpstream<Connection> implements Upstream<Connection> {
  readonly #requestsMax: number;
  readonly #attemptsMax: number;
  readonly #nowMs: () => number;
  readonly #observe: (observation: UpstreamObservation) => void;
  readonly #replicas: ReplicaSet<Connection>;
  readonly #addresses: AddressBook;
  readonly #budget: RetryBudget;
  readonly #attemptTimer: AttemptTimer<Connection>;
  readonly #breaker: Breaker;
  readonly #probeTransport: Transport<Connection, ResponseBody>;
  readonly #places = new InFlightList<string | undefined>();
  /** Idempotent requests without a response: when the breaker opens, none waits longer. */
  readonly #waitingReads = new InFlightList<RequestDeadline>();

  constructor(o: UpstreamOptions<Connection>) {
    const { requestsMax = 1_024, nowMs = () => performance.now(), random = Math.random, observe = () => {} } = o;
    this.#requestsMax = requestsMax;
    this.#attemptsMax = o.attemptsMax ?? defaultAttemptsMax;
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
    this.#attemptTimer = createAttemptTimer({
      replicas: this.#replicas,
      takeRetry: (replica) => this.#takeRetry(replica),
    });
    this.#probeTransport = o.probeTransport;
    this.#breaker = createBreaker({
      listReplicas: () => {
        // While it is open, no request does: replicas that were replaced have other addresses.
        this.#addresses.refreshSoon();
        void this.#addresses.refresh();
        return this.#replicas.list();
      },
      usualP99Ms: this.#replicas.bestP99Ms,
      probe: (replica, timeoutMs) => this.#probe(replica, timeoutMs),
      onChange: (isOpen) => {
        observe({ kind: "breaker-changed", isOpen });
        if (isOpen) for (const deadline of this.#waitingReads.items()) deadline.end("breaker-open", noResponseError);
      },
    });
  }

  isFull(caller: string | undefined): boolean {
    const taken = this.#places.size;
    const free = this.#requestsMax - taken;
    if (free <= 0) return true;
    const callerMax = free * shareOfFree;
    if (caller === undefined || taken < callerMax) return false;
    return this.#places.countOf(caller) >= callerMax;
  }

  takeRetry(replica: string): boolean {
    const isTaken = this.#takeRetry(replica);
    if (isTaken) this.#observe({ kind: "retried", replica, reason: "rejected", status: undefined });
    return isTaken;
  }

  noteShared(atMs: number): void {
    this.#breaker.noteArrival(atMs);
  }

  readStatus(): UpstreamStatus {
    return { breaker: this.#breaker.isOpen ? "open" : "closed", replicas: this.#replicas.listStatuses() };
  }

  close(): Promise<void> {
    this.#breaker.close();
    return this.#replicas.close();
  }

  send<Body extends ResponseBody>(
    request: UpstreamRequest,
    transport: Transport<Connection, Body>,
  ): Promise<UpstreamResult<Body>> {
    if (this.isFull(request.caller)) {
      const taken = this.#places.size;
      const why = taken < this.#requestsMax ? "The caller has its share" : "No place is free";
      const cause = new Error(`${why}: ${taken} of ${this.#requestsMax} are in flight`);
      return Promise.resolve(failed("overloaded", undefined, cause));
    }
    if (this.#breaker.isOpen) return Promise.resolve(failed("breaker-open", undefined, noResponseError));
    const place = this.#places.add(request.caller);
    const arrivedAtMs = this.#nowMs();
    this.#breaker.noteArrival(arrivedAtMs);
    const deadline = createDeadline(request.timeoutMs, request.signal);
    const endsAtMs = Math.min(arrivedAtMs + request.timeoutMs, request.signal?.endsAtMs ?? Infinity);
    return this.#sendWithRetries(
      { request, transport, deadline, endsAtMs, place, tried: [], refusals: 0 },
      arrivedAtMs,
    );
  }

  /**
   * If no attempt succeeds, returns the last buffered response, which says more than a broken connection, else the last failure. The only
   * asynchronous function between the caller and the transport: each further one costs every request.
   */
  async #sendWithRetries<Body extends ResponseBody>(
    inProgress: RequestInProgress<Connection, Body>,
    arrivedAtMs: number,
  ): Promise<UpstreamResult<Body>> {
    const { request, deadline, transport, endsAtMs, place } = inProgress;
    const waiting = request.isIdempotent ? this.#waitingReads.add(deadline) : undefined;
    let hasPendingBody = false;
    try {
      const lookup = this.#addresses.refresh();
      // `waitWithin` would not notice the end of a request that was aborted before this call.
      const mustWait = lookup && !deadline.ended;
      if (mustWait) await waitWithin(deadline, lookup);
      let startedAtMs = mustWait ? this.#nowMs() : arrivedAtMs;
      let fallback: AttemptResult<Body> | undefined;
      this.#budget.deposit();
      let replica = this.#replicas.choose(request.isIdempotent, startedAtMs);
      for (; replica && !deadline.ended; startedAtMs = this.#nowMs()) {
        const serviceMs = toServiceDeadline(endsAtMs - startedAtMs);
        if (serviceMs <= 0) break;
        const attempt = this.#startAttempt(replica, inProgress, startedAtMs, serviceMs);
        let received: TransportResult<Body> | undefined;
        try {
          received = rejectInvalid(await transport(replica, attempt.request, deadline));
        } finally {
          this.#stopAttempt(attempt, received);
        }
        const result = this.#completeAttempt(received, attempt, inProgress);
        const reason = toRetryReason(result);
        replica = reason === undefined ? undefined : this.#chooseNext(inProgress, reason, result);
        if (result.kind === "failed") {
          fallback = fallback?.kind === "response" ? fallback : result;
          continue;
        }
        if (!replica) {
          hasPendingBody = result.pendingBody !== undefined;
          return result;
        }
        // Its body would occupy the connection until the next attempt ends. Its `finish` is never called: `#completeAttempt` has reported the failure.
        if (result.body instanceof Readable) result.body.destroy();
        else fallback = result;
      }
      return fallback?.kind === "response" ? fallback : this.#toFailure(fallback, inProgress);
    } finally {
      if (waiting) this.#waitingReads.remove(waiting);
      if (!hasPendingBody) this.#release(deadline, place);
    }
  }

  #release(deadline: RequestDeadline, place: Place): void {
    this.#places.remove(place);
    deadline.clear();
  }

  #toFailure<Body extends ResponseBody>(
    lastFailure: (TransportFailure & { readonly replica: string }) | undefined,
    inProgress: RequestInProgress<Connection, Body>,
  ): UpstreamFailure {
    const { deadline, tried, endsAtMs } = inProgress;
    if (deadline.ended) return failed(deadline.ended.reason, tried.at(-1)?.name, deadline.ended.cause);
    if (!lastFailure) {
      // Created only now, since its stack trace costs as much as a whole attempt.
      if (toServiceDeadline(endsAtMs - this.#nowMs()) <= 0)
        return failed("timeout", tried.at(-1)?.name, new Error("Too late to be sent"));
      return failed("refused", undefined, new Error("No address is known"));
    }
    // For the caller, also if the request has time left.
    const reason = lastFailure.reason === "attempt-timeout" ? "timeout" : lastFailure.reason;
    return failed(reason, lastFailure.replica, lastFailure.cause);
  }

  #startAttempt<Body extends ResponseBody>(
    replica: Replica<Connection>,
    inProgress: RequestInProgress<Connection, Body>,
    startedAtMs: number,
    serviceMs: number,
  ): Attempt<Connection> {
    const { request, tried } = inProgress;
    const { traced, method } = request;
    const role = this.#replicas.startAttempt(replica, startedAtMs);
    const span = traced && startAttemptSpan(traced, { method, replica, resends: tried.length });
    tried.push(replica);
    const isLast = tried.length >= this.#attemptsMax;
    const timer = isLast ? undefined : this.#attemptTimer.start(inProgress, startedAtMs);
    const transportRequest = toTransportRequest(request, serviceMs, span);
    return { replica, role, startedAtMs, span, timer, request: transportRequest };
  }

  /** @param received undefined if the transport threw: a bug. */
  #stopAttempt(
    { replica, role, span, timer }: Attempt<Connection>,
    received: TransportResult<ResponseBody> | undefined,
  ): void {
    if (timer) clearTimeout(timer);
    if (span) endAttemptSpan(span, received);
    if (!received) this.#replicas.endAttempt(replica, role, "inconclusive");
  }

  /** The outcome of a successful streamed response is reported by `finish`, since its body may still break. */
  #completeAttempt<Body extends ResponseBody>(
    result: TransportResult<Body>,
    attempt: Attempt<Connection>,
    inProgress: RequestInProgress<Connection, Body>,
  ): AttemptResult<Body> {
    const { request, deadline, place } = inProgress;
    const { name } = attempt.replica;
    if (result.kind === "failed" && result.reason === "refused") inProgress.refusals++;
    const attempts = inProgress.tried.length - inProgress.refusals;
    const endedAtMs = this.#nowMs();
    const latencyMs = endedAtMs - attempt.startedAtMs;
    let outcome = toOutcome(result, latencyMs);
    const isFailure = outcome === "failure" || outcome === "timeout";
    if (result.kind === "response") this.#breaker.noteResponse();
    if (outcome === "success" || outcome === "draining") {
      const isSlow = this.#replicas.recordLatency(attempt.replica, latencyMs, request.isIdempotent, endedAtMs);
      if (isSlow && outcome === "success") outcome = "slow";
    }
    const isStreamed = result.kind === "response" && result.body instanceof Readable;
    // The head of a response shows that an ejected replica works. Its body may take as long as the client likes.
    const endsAtHead = isFailure || !isStreamed || attempt.role !== "regular";
    if (endsAtHead) this.#endAttempt(attempt, outcome, isFailure ? toCause(result) : undefined);
    if (result.kind === "failed") return { ...result, replica: name };
    if (!isStreamed) return { ...result, replica: name, attempts, pendingBody: undefined };
    const finish: PendingBody["finish"] = (bodyOutcome, cause) => {
      // After a complete body, that of the head: `success`, `slow` or `draining`.
      if (!endsAtHead) this.#endAttempt(attempt, bodyOutcome === "success" ? outcome : bodyOutcome, cause);
      this.#release(deadline, place);
    };
    return { ...result, replica: name, attempts, pendingBody: { deadline, finish } };
  }

  #endAttempt({ replica, role }: Attempt<Connection>, outcome: AttemptOutcome, cause: unknown): void {
    if (outcome !== "success" && outcome !== "slow" && outcome !== "inconclusive") this.#addresses.refreshSoon();
    this.#replicas.endAttempt(replica, role, outcome, cause);
  }

  #chooseNext<Body extends ResponseBody>(
    { request, tried }: RequestInProgress<Connection, Body>,
    reason: RetryReason,
    failedAttempt: AttemptResult<Body>,
  ): Replica<Connection> | undefined {
    if (tried.length >= this.#attemptsMax) return undefined;
    // Nothing was sent, so it costs no budget.
    const wasSent = reason !== "refused";
    if (wasSent && !request.isIdempotent) return undefined;
    const next = this.#replicas.chooseNext(tried, reason, this.#nowMs());
    if (!next) return undefined;
    // After a timeout, `attempt-timer.ts` has taken the retry.
    const costsRetry = wasSent && reason !== "timeout";
    if (costsRetry && !this.#takeRetry(failedAttempt.replica)) return undefined;
    const status = failedAttempt.kind === "response" ? failedAttempt.status : undefined;
    this.#observe({ kind: "retried", replica: failedAttempt.replica, reason, status });
    return next;
  }

  async #probe(replica: Replica<Connection>, timeoutMs: number): Promise<boolean> {
    const deadline = createDeadline(timeoutMs, undefined);
    try {
      const result = await this.#probeTransport(replica, probeRequest, deadline);
      if (result.kind === "response" && result.body instanceof Readable) result.body.destroy();
      return result.kind === "response";
    } catch {
      // The connection pool was closed.
      return false;
    } finally {
      deadline.clear();
    }
  }

  #takeRetry(replica: string): boolean {
    const isTaken = this.#budget.takeRetry();
    if (!isTaken) this.#observe({ kind: "retry-over-budget", replica });
    return isTaken;
  }
}

function toTransportRequest(
  { method, path, headers, body, onInformation }: UpstreamRequest,
  serviceMs: number,
  span: Span | undefined,
): TransportRequest {
  const allHeaders = [...headers, deadlineHeader, String(serviceMs)];
  if (span) allHeaders.push("traceparent", span.traceParent);
  return { method, path, headers: allHeaders, body, onInformation };
}

function failed(reason: UpstreamFailure["reason"], replica: string | undefined, cause: unknown): UpstreamFailure {
  return { kind: "failed", replica, reason, cause };
}
