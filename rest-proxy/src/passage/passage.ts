import { Readable } from "node:stream";
import { AppError } from "@tributary/kit/errors/app-error";
import type { Lookup } from "@tributary/kit/upstream/address-book";
import { createDeadline, endOf } from "@tributary/kit/upstream/deadline";
import { hasFarewell } from "@tributary/kit/upstream/farewell";
import { createReplicaPicker, type ReplicaPickerObservation } from "@tributary/kit/upstream/replica-picker";
import type { RetryBudgetLimits } from "@tributary/kit/upstream/retry-budget";
import { toClientHeaders } from "../forward/headers.ts";
import type { ServiceObserver } from "../telemetry/service-observer.ts";
import { watchBody } from "./answer-body.ts";
import type { Ask, PassageAnswer, PassageRequest } from "./ask.ts";
import type { Attempt } from "./attempt.ts";
import { createMiddlewareAttempt } from "./by-middleware.ts";
import { poolAttempt } from "./by-pool.ts";
import { toOutgoing } from "./outgoing.ts";
import { closeConnection, openConnection, type ReplicaConnection } from "./replica-connection.ts";
import { askReplicas } from "./replicas.ts";

/** The way to one service, over all its replicas. */
export interface Passage {
  /** For a client's own request: by the middleware. */
  readonly passThrough: Ask;
  /** For requests that outlive their client or have none, such as a cache's. */
  readonly aside: Ask;
  /** Once nothing is under way. */
  close(): Promise<void>;
}

export type PassageObservation = ReplicaPickerObservation & { readonly service: string };

export interface PassageOptions {
  readonly service: string;
  /** Scheme, host and port of the service's replicas, one at least. A host that is a name is looked up; each of its addresses is a replica. */
  readonly urls: readonly string[];
  /** Requests under way at once, both ways together; more are refused at once, none waits. */
  readonly requestsMax: number;
  /** For everything: lookup, connection, retries, the whole body. 1 to 2^31 - 1. */
  readonly timeoutMs: number;
  /** A reader has this long to take the answer; not less than `timeoutMs`. */
  readonly readTimeoutMs: number;
  /** Until a connection stands, TLS included. Default 1,000. */
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
  readonly observe?: (observation: PassageObservation) => void;
  /** Undefined where nobody watches. */
  readonly watch?: ServiceObserver | undefined;
}

/**
 * One service behind the proxy. `GET` and `HEAD` are sent again to another replica when a connection breaks or a replica says that it cannot;
 * a `POST` only with a key that its route takes; all else only where nobody took the connection. Both ways share the replicas, the budget of
 * retries and the bound.
 */
export function createPassage(o: PassageOptions): Passage {
  const { service, requestsMax, timeoutMs, nowMs = () => performance.now(), observe, watch } = o;
  const limits = { connectionsMax: requestsMax, connectTimeoutMs: o.connectTimeoutMs ?? 1_000 };
  const picker = createReplicaPicker<ReplicaConnection>({
    ...o,
    nowMs,
    retryBudget: o.retryBudget ?? { perRequest: 0.1, perSecond: 5, burstMax: Math.max(1, requestsMax / 2) },
    open: (address) => openConnection(address, limits),
    close: closeConnection,
    observe: (observation) => observe?.({ ...observation, service }),
  });
  const readerExtraMs = Math.max(0, o.readTimeoutMs - timeoutMs);
  let underWay = 0;

  async function ask(request: PassageRequest, attempt: Attempt): Promise<PassageAnswer> {
    if (underWay >= requestsMax) throw tooMuch(watch);
    underWay++;
    const watched = watch?.begin();
    const endsAtMs = nowMs() + timeoutMs;
    const deadline = createDeadline(timeoutMs, request.signal);
    try {
      const lookup = picker.refresh();
      if (lookup && !deadline.ended) await endOf(lookup, deadline);
      const asking = { service, picker, attempt, deadline, remainingMs: () => endsAtMs - nowMs() };
      const { answer, end } = await askReplicas(toOutgoing(request), asking);
      watched?.answered(answer.status);
      const onClosed: typeof end = (verdict, cause) => {
        underWay--;
        watched?.closed();
        end(verdict === "good" && hasFarewell(answer.headers) ? "leaving" : verdict, cause);
      };
      const { status, body } = answer;
      if (body instanceof Readable) watchBody(body, { deadline, signal: request.signal, readerExtraMs, onClosed });
      else {
        deadline.clear();
        onClosed("good", undefined);
      }
      return { status, headers: toClientHeaders(answer.headers), body };
    } catch (error) {
      underWay--;
      watched?.failed(error);
      watched?.closed();
      deadline.clear();
      throw error;
    }
  }

  const middlewareAttempt = createMiddlewareAttempt(limits.connectTimeoutMs);
  return {
    passThrough: (request) => ask(request, middlewareAttempt),
    aside: (request) => ask(request, poolAttempt),
    close: () => picker.close(),
  };
}

function tooMuch(watch: ServiceObserver | undefined): AppError {
  const error = new AppError("SERVICE_UNAVAILABLE", "Too much is under way. Try again.", { retryAfterSeconds: 1 });
  watch?.refuse(error);
  return error;
}
