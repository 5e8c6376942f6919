import type { ClientRequest, IncomingMessage } from "node:http";
import type {
  AttemptEndReason,
  AttemptPhase,
  EndListener,
  RequestDeadline,
} from "@tributary/kit/upstream/request-deadline";
import type { Transport, TransportRequest, TransportResult } from "@tributary/kit/upstream/transport";
import { createProxyMiddleware, type Plugin } from "http-proxy-middleware";
import { isConnectionError } from "../errors/service-failure.ts";
import { MiddlewareRequest, unusedResponse } from "./middleware-request.ts";
import { type ReplicaConnection, whenConnected } from "./replica-connection.ts";

/** By http-proxy-middleware, which does not write the response to the client (`selfHandleResponse`): the transport returns the body as a stream. */
export function createMiddlewareTransport(connectTimeoutMs: number): Transport<ReplicaConnection, IncomingMessage> {
  const middleware = createProxyMiddleware({
    router(request, _response, options) {
      const { agent, target } = attemptOf(request).route();
      Object.assign(options, { agent });
      return target;
    },
    pathFilter: () => true,
    changeOrigin: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [createPlugin(connectTimeoutMs)],
  });
  return (replica, request, deadline) =>
    new Promise((resolve, reject) => {
      const attempt = new MiddlewareAttempt({ replica, request, deadline, resolve, reject });
      // Only if the middleware ignores the request, or if `router` throws.
      void middleware(attempt as unknown as IncomingMessage, unusedResponse, (error) => attempt.reject(error));
    });
}

function createPlugin(connectTimeoutMs: number): Plugin {
  return (proxy) => {
    proxy.on("proxyReq", (outgoing, request) => attemptOf(request).start(outgoing, connectTimeoutMs));
    proxy.on("proxyRes", (response, request) => attemptOf(request).respond(response));
    proxy.on("error", (error, request) => {
      if (request) attemptOf(request).fail(error);
    });
  };
}

function attemptOf(request: IncomingMessage): MiddlewareAttempt {
  return request as unknown as MiddlewareAttempt;
}

interface AttemptOptions {
  readonly replica: { readonly connection: ReplicaConnection; readonly path: string };
  readonly request: TransportRequest;
  readonly deadline: RequestDeadline;
  resolve(result: TransportResult<IncomingMessage>): void;
  reject(error: unknown): void;
}

class MiddlewareAttempt extends MiddlewareRequest implements EndListener {
  readonly #options: AttemptOptions;
  #outgoing: ClientRequest | undefined;
  #isConnected = false;
  #isSettled = false;

  constructor(options: AttemptOptions) {
    super(options.request);
    this.#options = options;
    options.deadline.listener = this;
  }

  route(): ReplicaConnection {
    const { request, replica } = this.#options;
    this.url = request.path ?? replica.path;
    return replica.connection;
  }

  /** From the connection on, bytes may have been sent, so a write must not be repeated. */
  get phase(): AttemptPhase {
    return this.#isConnected ? "sent" : "connecting";
  }

  onEnd(reason: AttemptEndReason, cause: unknown): void {
    this.#settle({ kind: "failed", reason, cause });
    this.#outgoing?.destroy();
  }

  /** The socket may have to be connected first. */
  start(outgoing: ClientRequest, connectTimeoutMs: number): void {
    if (this.#isSettled) {
      outgoing.destroy();
      return;
    }
    this.#outgoing = outgoing;
    const { onInformation } = this.#options.request;
    if (onInformation) outgoing.on("information", ({ statusCode, headers }) => onInformation(statusCode, headers));
    // Without a listener, Node closes the connection without an error, and the caller waits until the deadline.
    outgoing.once("upgrade", (_response, socket) => {
      socket.destroy();
      this.fail(Object.assign(new Error("The service switched protocols"), { code: "EPROTO" }));
    });
    // After `connectTimeoutMs`, `fail` reports `refused`.
    whenConnected(outgoing, connectTimeoutMs, () => {
      this.#isConnected = true;
    });
  }

  respond(response: IncomingMessage): void {
    if (this.#isSettled) {
      response.destroy();
      return;
    }
    const { statusCode: status = 0, headers, rawHeaders } = response;
    this.#settle({ kind: "response", status, headers, rawHeaders, body: response });
  }

  fail(error: unknown): void {
    if (this.#isSettled) return;
    // Before there is a connection, the service causes every error except Node's TypeError for invalid arguments.
    const isCausedByService = this.#isConnected ? isConnectionError(error) : !(error instanceof TypeError);
    if (!isCausedByService) return this.reject(error);
    this.#settle({ kind: "failed", reason: this.#isConnected ? "reset" : "refused", cause: error });
    this.#outgoing?.destroy();
  }

  reject(error: unknown): void {
    if (this.#isSettled) return;
    this.#options.reject(error ?? new Error("http-proxy-middleware ignored a request"));
    this.#settle(undefined);
    this.#outgoing?.destroy();
  }

  #settle(result: TransportResult<IncomingMessage> | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#options.deadline.listener = undefined;
    if (result) this.#options.resolve(result);
  }
}
