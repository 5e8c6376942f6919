import type { AbortSignalLike } from "./http/abort-source.ts";
import type { Pool } from "undici";
import type { Span } from "./telemetry/tracing/trace.ts";
import type { Lookup } from "./upstream/address-book.ts";
import { beginAttempt, endAttempt, type TracedRequest } from "./upstream/attempt-span.ts";
import { createDeadline, type Deadline, endOf } from "./upstream/deadline.ts";
import { exchange, type ExchangeResult } from "./upstream/exchange.ts";
import { isFarewell } from "./upstream/farewell.ts";
import { openPool } from "./upstream/pool.ts";
import type { Verdict } from "./upstream/replica-health.ts";
import {
  type AttemptFailure,
  createReplicaPicker,
  type Replica,
  type ReplicaPicker,
  type ReplicaPickerObservation,
} from "./upstream/replica-picker.ts";
import type { RetryBudgetLimits } from "./upstream/retry-budget.ts";

export type { TracedRequest };

/** One service that is called, with all its replicas. */
export interface Upstream {
  /**
   * Sends one request and reads its whole answer. What goes wrong on the way is a result too.
   * @throws Error when the request itself cannot be sent, such as a header with a line break: a bug of the caller.
   */
  send(request: UpstreamRequest): Promise<UpstreamResult>;
  /** Closes the connections once no request is in flight. */
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
  readonly signal?: AbortSignalLike;
  /** Each attempt becomes a span, and says so in its `traceparent`: then `headers` hold none. Undefined when nobody records it. */
  readonly traced?: TracedRequest | undefined;
}

export type UpstreamResult =
  /** Any status, a redirect too; `body` as it came, packed if the replica packed it. */
  | Extract<ExchangeResult, { kind: "answered" }>
  | {
      readonly kind: "failed";
      /** The last one that the request was sent to, by URL and address; undefined when there was none. */
      readonly replica: string | undefined;
      readonly reason: FailureReason;
      readonly cause: unknown;
    };

/**
 * - `refused`: no connection, so nothing was sent; also when there is no address.
 * - `reset`: the connection broke, or what came is no HTTP; the request may have arrived.
 * - `timeout`, `aborted`: `timeoutMs` passed, `signal` was aborted.
 * - `too-large`: the answer has more than `bodyBytesMax` bytes.
 * - `overloaded`: `requestsMax` are in flight; nothing was sent.
 */
export type FailureReason = "refused" | "reset" | "timeout" | "aborted" | "too-large" | "overloaded";

export type UpstreamObservation = ReplicaPickerObservation;

export interface UpstreamOptions {
  /** http(s) URLs of the replicas, one at least. A host that is a name is looked up; each of its addresses is a replica. */
  readonly urls: readonly string[];
  /** A longer answer is cut. */
  readonly bodyBytesMax: number;
  /** Requests in flight at once, over all replicas; more fail at once, none waits. Default 1,024. */
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

/** Bad gateway, unavailable, gateway timeout (RFC 9110, section 15.6): another replica may respond better. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Calls one service over several replicas: the less loaded of two is chosen, one that keeps failing is left out for a growing pause,
 * idempotent requests are sent again within a budget. Redirects are not followed, answers not unpacked.
 */
export function createUpstream(o: UpstreamOptions): Upstream {
  const { requestsMax = 1_024, nowMs = () => performance.now(), observe = () => {} } = o;
  const { retryBudget = { perRequest: 0.1, perSecond: 5, burstMax: requestsMax / 2 } } = o;
  const limits = { connectionsMax: requestsMax, connectTimeoutMs: o.connectTimeoutMs ?? 1_000 };
  const picker = createReplicaPicker<Pool>({
    ...o,
    nowMs,
    observe,
    retryBudget,
    open: (address) => openPool(address, limits),
    close: (pool) => pool.close(),
  });
  const sender: Sender = { picker, bodyBytesMax: o.bodyBytesMax };
  let inFlight = 0;

  async function send(request: UpstreamRequest): Promise<UpstreamResult> {
    if (inFlight >= requestsMax)
      return failed("overloaded", undefined, new Error(`${requestsMax} requests are in flight`));
    inFlight++;
    const deadline = createDeadline(request.timeoutMs, request.signal);
    try {
      const lookup = picker.refresh();
      if (lookup && !deadline.ended) await endOf(lookup, deadline);
      return await sendWithRetries(request, deadline, sender);
    } finally {
      inFlight--;
      deadline.clear();
    }
  }

  return { send, close: () => picker.close() };
}

interface Sender {
  readonly picker: ReplicaPicker<Pool>;
  readonly bodyBytesMax: number;
}

/** A response of an earlier attempt is returned when no later attempt gets one. */
async function sendWithRetries(request: UpstreamRequest, deadline: Deadline, sender: Sender): Promise<UpstreamResult> {
  const { isIdempotent } = request;
  let replica = sender.picker.choose(isIdempotent);
  const tried: Replica<Pool>[] = [];
  let result: UpstreamResult | undefined;
  while (replica && !deadline.ended) {
    const look = sender.picker.look(replica, tried);
    const latest =
      look && !(await look)
        ? failed("refused", replica.name, new Error("The replica accepts no connections"))
        : await attempt(request, { replica, resends: tried.length }, deadline, sender);
    if (latest.kind === "answered" || result?.kind !== "answered") result = latest;
    const failure = readFailure(latest);
    if (failure === undefined) break;
    tried.push(replica);
    replica = sender.picker.chooseAgain({ tried, failure, status: statusOf(latest), isIdempotent });
  }
  const last = result?.replica;
  if (deadline.ended && result?.kind !== "answered") return { kind: "failed", replica: last, ...deadline.ended };
  // An Error costs as much as sending does, for its stack trace: none is created before it is needed.
  return result ?? failed("refused", undefined, new Error("No address is known"));
}

interface Try {
  readonly replica: Replica<Pool>;
  readonly resends: number;
}

async function attempt(request: UpstreamRequest, { replica, resends }: Try, deadline: Deadline, sender: Sender) {
  const begun = sender.picker.begin(replica);
  const { traced, method } = request;
  const span = traced && beginAttempt(traced, { method, replica, resends });
  let result: ExchangeResult | undefined;
  try {
    result = await exchange(replica, span ? withTrace(request, span) : request, deadline, sender.bodyBytesMax);
    return result;
  } finally {
    if (span) endAttempt(span, result);
    const verdict = judge(result);
    sender.picker.end(replica, begun, verdict, verdict === "bad" ? causeOf(result) : undefined);
  }
}

function withTrace(request: UpstreamRequest, { traceParent }: Span): UpstreamRequest {
  const { headers } = request;
  const isList = Array.isArray as (value: unknown) => value is readonly string[];
  const said = isList(headers) ? [...headers, "traceparent", traceParent] : { ...headers, traceparent: traceParent };
  return { ...request, headers: said };
}

function causeOf(result: ExchangeResult | undefined): unknown {
  return result?.kind === "failed" ? result.cause : new Error("unavailable, said the replica itself");
}

/**
 * Time that ran out counts against a replica too: one that is frozen breaks nothing, and never answers. Under more load than all bear it
 * costs nothing: a replica is only left out while another is well, and a smaller one recovers meanwhile.
 */
function judge(result: ExchangeResult | undefined): Verdict {
  if (result === undefined) return "neither";
  if (result.kind === "answered") {
    if (unavailableStatuses.has(result.status)) return "bad";
    return isFarewell(result.headers["connection"]) ? "leaving" : "good";
  }
  return result.reason === "aborted" || result.reason === "too-large" ? "neither" : "bad";
}

/** Undefined when another attempt could do no better. */
function readFailure(result: UpstreamResult): AttemptFailure | undefined {
  if (result.kind === "answered") return unavailableStatuses.has(result.status) ? "answered" : undefined;
  return result.reason === "refused" || result.reason === "reset" ? result.reason : undefined;
}

function statusOf(result: UpstreamResult): number | undefined {
  return result.kind === "answered" ? result.status : undefined;
}

function failed(reason: FailureReason, replica: string | undefined, cause: unknown): UpstreamResult {
  return { kind: "failed", replica, reason, cause };
}
