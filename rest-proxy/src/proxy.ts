import type { ServerResponse } from "node:http";
import { ClientGone } from "./body.ts";
import type { AskOrigin } from "./cache/origin.ts";
import type { CacheLookup, SharedCache } from "./cache/shared-cache.ts";
import { type Coding, createCompression } from "./compression.ts";
import { withoutClient } from "./lookup.ts";
import type { Ask } from "./passage/ask.ts";
import { createPassage, type Passage } from "./passage/passage.ts";
import { isOpen, toServiceError } from "./problems.ts";
import type { Observe } from "./telemetry.ts";

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
  /** The answer may be kept for others, so nothing of this client may show in it. */
  readonly isForOthers: boolean;
  readonly coding: Coding | undefined;
  readonly lookup: CacheLookup;
  /** For the log. */
  readonly about: { readonly requestId: string; readonly method: string; readonly path: string };
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
    const passage = createPassage({ service, urls, requestsMax, timeoutMs, readTimeoutMs, observe: o.observe });
    passages.set(service, passage);
    return passage;
  }

  /** One request's way: it knows where to and with which body; the cache says which conditions. */
  function wayBy(ask: Ask, forwarding: Forwarding, isShared: boolean): AskOrigin {
    const { path: target, takesIdempotencyKey, service, about, coding } = forwarding;
    const body = isShared ? undefined : forwarding.body;
    const plain: AskOrigin = ({ method, headers, signal }) => {
      const told = forwarding.isForOthers ? withoutClient(headers) : headers;
      return ask({ method, target, headers: told, body, signal, takesIdempotencyKey });
    };
    const packed = withCompression(plain, coding);
    return async (request) => {
      const answer = await packed(request);
      answer.body.once("error", (error) =>
        o.observe({ kind: "answer-cut", service, reason: toServiceError(error).code, ...about }),
      );
      return answer;
    };
  }

  return {
    async forward(response, forwarding) {
      const { service, lookup, headers, about } = forwarding;
      if (response.destroyed || response.closed) return;
      try {
        const passage = passageTo(service);
        const passThrough = wayBy(isRead(about.method) ? passage.aside : passage.passThrough, forwarding, false);
        const aside = wayBy(passage.aside, forwarding, true);
        await o.cache.answer(lookup, response, { headers, passThrough, aside }, []);
      } catch (error) {
        if (error instanceof ClientGone || !isOpen(response)) return;
        const told = toServiceError(error);
        if (told.code === "INTERNAL_SERVER_ERROR") throw error;
        o.observe({ kind: "service-failed", service, code: told.code, cause: told.cause, ...about });
        throw told;
      }
    },
    close: async () => void (await Promise.all([...passages.values()].map((passage) => passage.close()))),
  };
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
