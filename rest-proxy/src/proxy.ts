import type { IncomingMessage, ServerResponse } from "node:http";
import { ClientGone } from "./body.ts";
import type { PassageAnswer } from "./passage/ask.ts";
import { ClientSignal } from "./passage/client-signal.ts";
import { createPassage, type Passage } from "./passage/passage.ts";
import { isOpen, serviceLate, toServiceError } from "./problems.ts";
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
  readonly observe: Observe;
}

/** Where a request goes and what goes there; nothing of the client's own request is used besides its method. */
interface Forwarding {
  readonly service: string;
  /** Path and query at the service. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** The route takes an `Idempotency-Key` in this version. */
  readonly takesIdempotencyKey: boolean;
  /** For the log. */
  readonly about: { readonly requestId: string; readonly method: string; readonly path: string };
}

export interface Proxy {
  /**
   * Answers from the service.
   * @throws AppError BAD_GATEWAY, GATEWAY_TIMEOUT, SERVICE_UNAVAILABLE when there is no answer; nothing is written then.
   */
  forward(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): Promise<void>;
  /** Closes the connections to the services. */
  close(): void;
}

interface Relaying {
  /** The client has this long to read. */
  readonly readTimeoutMs: number;
  onCut(error: unknown): void;
}

/** Every request goes through to its service; a passage for each. */
export function createProxy(o: ProxyOptions): Proxy {
  const passages = new Map<string, Passage>();

  function passageTo(service: string): Passage {
    const known = passages.get(service);
    if (known) return known;
    const urls = o.addresses[service];
    if (urls === undefined) throw new Error(`There is no address for the service ${service}.`);
    const { inFlightMax: requestsMax, upstreamTimeoutMs: timeoutMs, responseTimeoutMs: readTimeoutMs } = o;
    const passage = createPassage({ service, urls, requestsMax, timeoutMs, readTimeoutMs });
    passages.set(service, passage);
    return passage;
  }

  return {
    async forward({ method = "" }, response, forwarding) {
      if (response.destroyed || response.closed) return;
      const { service, path: target, headers, body, takesIdempotencyKey, about } = forwarding;
      const signal = new ClientSignal(response);
      try {
        const asked = { method, target, headers, body, signal, takesIdempotencyKey };
        const answer = await passageTo(service).passThrough(asked);
        const onCut = (error: unknown) =>
          o.observe({ kind: "answer-cut", service, reason: toServiceError(error).code, ...about });
        relay(answer, response, { readTimeoutMs: o.responseTimeoutMs, onCut });
      } catch (error) {
        if (error instanceof ClientGone || !isOpen(response)) return;
        const told = toServiceError(error);
        if (told.code === "INTERNAL_SERVER_ERROR") throw error;
        o.observe({ kind: "service-failed", service, code: told.code, cause: told.cause, ...about });
        throw told;
      }
    },
    close: () => passages.forEach((passage) => void passage.close()),
  };
}

/** Hands the answer on at the client's pace. One that breaks off is cut here too, never ended as if it were whole. */
function relay(answer: PassageAnswer, response: ServerResponse, { readTimeoutMs, onCut }: Relaying): void {
  const { status, headers, body } = answer;
  if (!isOpen(response)) return void body.destroy();
  const cut = (error: unknown) => {
    onCut(error);
    response.destroy();
  };
  // The passage is done once all has come; what is left then waits for the client only.
  const timer = setTimeout(() => cut(serviceLate(new Error("the client reads too slowly"))), readTimeoutMs);
  response.once("close", () => clearTimeout(timer));
  body.once("close", () => {
    if (!body.readableEnded && !response.destroyed) cut(body.errored);
  });
  response.writeHead(status, [...headers]);
  body.pipe(response);
}
