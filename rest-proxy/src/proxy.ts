import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";
import { ClientGone } from "./body.ts";
import type { AskOrigin } from "./cache/origin.ts";
import type { CacheLookup, CompleteHead, SharedCache } from "./cache/shared-cache.ts";
import type { ContentCoding } from "@tributary/kit/http/accept";
import { createCompression } from "./compression.ts";
import type { Ask } from "./passage/ask.ts";
import { createPassage, type Passage } from "./passage/passage.ts";
import { isOpen, ServiceFailure, toServiceError } from "./problems.ts";
import type { About, Observe } from "./telemetry/observations.ts";
import type { ServiceObserver } from "./telemetry/service-observer.ts";

export interface ProxyOptions {
  /** Scheme, host and port of each replica, or of a name with several addresses; by service. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  /** Requests under way at once, for each service. */
  readonly inFlightMax: number;
  /** A service's whole answer has this long; a client that reads slowly has longer. */
  readonly upstreamTimeoutMs: number;
  /** A client has this long to read its answer. */
  readonly responseTimeoutMs: number;
  readonly cache: SharedCache;
  readonly observe: Observe;
  /** Undefined where nobody watches. */
  readonly services?: ((service: string) => ServiceObserver) | undefined;
}

/** Where a request goes and what goes there; nothing else of the client's own request reaches a service. */
interface Forwarding {
  readonly service: string;
  /** Path and query at the service. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** The route takes an `Idempotency-Key` in this version. */
  readonly takesIdempotencyKey: boolean;
  readonly coding: ContentCoding | undefined;
  readonly lookup: CacheLookup;
  /** What the proxy itself says on the answer. */
  readonly complete: CompleteHead;
  /** For the log. */
  readonly about: About;
  /** Undefined when the request is not traced. */
  readonly span: Span | undefined;
}

export interface Proxy {
  /**
   * Answers from the store or from the service, on one of two ways: the middleware's for what changes something, the pool's for reads, which
   * others may join or nobody may wait for.
   * @throws AppError BAD_GATEWAY, GATEWAY_TIMEOUT, SERVICE_UNAVAILABLE when there is no answer; nothing is written then.
   */
  forward(response: ServerResponse, forwarding: Forwarding): Promise<void>;
  /** Closes the connections to the services. */
  close(): Promise<void>;
}

/** A few for each of the threads that pack, of 2 MiB at most. */
const packingsMax = 32;

export function createProxy(o: ProxyOptions): Proxy {
  const passages = new Map<string, Passage>();
  const withCompression = createCompression({ packingsMax });

  function passageTo(service: string): Passage {
    const known = passages.get(service);
    if (known) return known;
    const urls = o.addresses[service];
    if (urls === undefined) throw new Error(`There is no address for the service ${service}.`);
    const { inFlightMax: requestsMax, upstreamTimeoutMs: timeoutMs, responseTimeoutMs: readTimeoutMs } = o;
    const watch = o.services?.(service);
    const passage = createPassage({ service, urls, requestsMax, timeoutMs, readTimeoutMs, observe: o.observe, watch });
    passages.set(service, passage);
    return passage;
  }

  /** One request's way: it knows where to and with which body; the cache says which conditions. */
  function wayBy(ask: Ask, forwarding: Forwarding): AskOrigin {
    const { path: target, takesIdempotencyKey, body, service, about, coding, span } = forwarding;
    const plain: AskOrigin = ({ method, headers, signal }) =>
      ask({ method, target, headers, body, signal, takesIdempotencyKey, span });
    const packed = withCompression(plain, coding);
    return async (request) => {
      const answer = await packed(request);
      if (answer.body instanceof Readable) {
        answer.body.once("error", (error) =>
          o.observe({ kind: "answer-cut", service, reason: toServiceError(error).code, ...about }),
        );
      }
      return answer;
    };
  }

  return {
    async forward(response, forwarding) {
      const { service, lookup, headers, complete, about } = forwarding;
      if (response.destroyed || response.closed) return;
      try {
        const { aside, passThrough } = passageTo(service);
        // A read has no body, so others may join it and it may go on without its client; nobody joins what is no read.
        const way = wayBy(isRead(about.method) ? aside : passThrough, forwarding);
        await o.cache.answer(lookup, response, { headers, passThrough: way, aside: way }, complete);
      } catch (error) {
        if (error instanceof ClientGone || !isOpen(response)) return;
        const failure = toServiceError(error);
        if (failure.code === "INTERNAL_SERVER_ERROR") throw error;
        const replica = failure instanceof ServiceFailure ? failure.replica : undefined;
        o.observe({ kind: "service-failed", service, replica, code: failure.code, cause: failure.cause, ...about });
        throw failure;
      }
    },
    close: async () => void (await Promise.all([...passages.values()].map((passage) => passage.close()))),
  };
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
