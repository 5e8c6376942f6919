import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { Readable } from "node:stream";
import { AppError } from "@tributary/kit/errors";
import { writeProblem } from "@tributary/kit/problem";
import { createProxyMiddleware, type Plugin } from "http-proxy-middleware";
import { joinVary, toClientHeaders } from "./headers.ts";
import { isOpen, serviceDown, toServiceError } from "./problems.ts";
import type { Observe } from "./telemetry.ts";

export interface ProxyOptions {
  /** A service's whole answer has this long; a client that reads slowly has longer. */
  readonly upstreamTimeoutMs: number;
  /** A client has this long to read its answer. */
  readonly responseTimeoutMs: number;
  readonly observe: Observe;
}

/** Where a request goes and what goes there; nothing of the client's own request is used besides its method. */
interface Forwarding {
  readonly service: string;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Path and query at the service. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
  readonly requestId: string;
  /** The public path, for problems and the log. */
  readonly instance: string;
}

export interface Proxy {
  /** Answers from the service, or with a problem when there is no answer. */
  forward(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): Promise<void>;
  /** Closes the connections to the services. */
  close(): void;
}

interface Exchange {
  readonly forwarding: Forwarding;
  readonly method: string;
  upstream: ClientRequest | undefined;
}

/**
 * One instance of the middleware for every service: more than ten would each listen to the server's `close`. It gets a request that is
 * rewritten already, for `on.proxyReq` comes too late when the client sent `Expect`; and it hands the answer to us
 * (`selfHandleResponse`), for its own copy would pass on hop-by-hop headers and say `Connection` in Node's place.
 */
export function createProxy({ upstreamTimeoutMs, responseTimeoutMs, observe }: ProxyOptions): Proxy {
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  // How many sockets there are is bounded by what is in flight; the agent must not queue by itself.
  const agents = { "http:": new HttpAgent({ keepAlive: true }), "https:": new HttpsAgent({ keepAlive: true }) };

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const exchange = exchanges.get(request);
    exchanges.delete(request);
    exchange?.upstream?.destroy();
    if (!exchange || response.destroyed || response.closed) return;
    const { service, requestId, instance } = exchange.forwarding;
    const about = { requestId, method: exchange.method, path: instance };
    const told = toServiceError(error);
    if (!isOpen(response)) {
      observe({ kind: "answer-cut", service, reason: told.code, ...about });
      return void response.destroy();
    }
    if (told.code === "INTERNAL_SERVER_ERROR") observe({ kind: "bug", cause: error, ...about });
    else observe({ kind: "service-failed", service, code: told.code, cause: told.cause, ...about });
    writeProblem(response, told, { instance, requestId });
  }

  const plugin: Plugin = (server) => {
    server.on("proxyReq", (upstream, request, response) => {
      const exchange = exchanges.get(request);
      if (exchange) exchange.upstream = upstream;
      else upstream.destroy(); // The deadline was over before a socket was there.
      // Without a listener Node ends the request without a word, and the client would wait for the deadline.
      upstream.once("upgrade", (_answer, socket) => {
        socket.destroy();
        fail(request, response, serviceDown(new Error("The service switched protocols unasked.")));
      });
    });
    server.on("proxyRes", (answer, request, response) => {
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode <= 599) return relay(answer, response);
      // Node takes any three digits from a service, but throws when told to write some of them: outside every try, so the process would end.
      fail(request, response, serviceDown(new Error(`The service answered with the status ${statusCode}.`)));
    });
    server.on("error", (error, request, response) => {
      if (request && response && "writeHead" in response) fail(request, response, error);
    });
  };

  const middleware = createProxyMiddleware({
    // The middleware makes these options anew for each request, so the request's own body and agent go here too.
    router: (request, _response, options) => {
      const { origin, body } = required(exchanges.get(request)).forwarding;
      if (options)
        Object.assign(options, {
          agent: agents[origin.startsWith("https:") ? "https:" : "http:"],
          buffer: body && Readable.from(body),
        });
      return origin;
    },
    changeOrigin: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [plugin],
  });

  return {
    async forward(request, response, forwarding) {
      if (response.destroyed || response.closed) return;
      exchanges.set(request, { forwarding, method: request.method ?? "", upstream: undefined });
      request.url = forwarding.path;
      request.headers = forwarding.headers;
      startDeadline(response, {
        upstreamTimeoutMs,
        responseTimeoutMs,
        onLate: (error) => fail(request, response, error),
      });
      await middleware(request, response, (error) => fail(request, response, error));
    },
    close: () => Object.values(agents).forEach((agent) => agent.destroy()),
  };
}

/**
 * The middleware's `proxyTimeout` counts silence only and looks like a reset; this counts from beginning to end. When it is the client that
 * holds the answer up, the client gets until `responseTimeoutMs`.
 */
function startDeadline(
  response: ServerResponse,
  o: { upstreamTimeoutMs: number; responseTimeoutMs: number; onLate(error: AppError): void },
): void {
  const late = () => o.onLate(new AppError("GATEWAY_TIMEOUT", "The service behind this path did not answer in time."));
  let timer = setTimeout(() => {
    const heldUpByClient = response.headersSent && response.writableLength > 0;
    if (!heldUpByClient) return late();
    timer = setTimeout(late, Math.max(o.responseTimeoutMs - o.upstreamTimeoutMs, 0));
  }, o.upstreamTimeoutMs);
  response.once("close", () => clearTimeout(timer));
}

function relay(answer: IncomingMessage, response: ServerResponse): void {
  if (!isOpen(response)) return void answer.destroy();
  response.statusCode = answer.statusCode ?? 502;
  const ours = response.getHeader("Vary");
  for (const [name, value] of Object.entries(toClientHeaders(answer.headers))) {
    if (value !== undefined) response.setHeader(name, value);
  }
  const vary = joinVary(typeof ours === "string" ? ours : undefined, answer.headers.vary);
  if (vary !== undefined) response.setHeader("Vary", vary);
  answer.pipe(response);
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("A request came to the middleware past forward().");
  return value;
}
