import type { ClientRequest, IncomingMessage } from "node:http";
import type { AttemptEndReason, Deadline, EndListener } from "@tributary/kit/upstream/deadline";
import type { Transport, TransportRequest, TransportResult } from "@tributary/kit/upstream/transport";
import { createProxyMiddleware, type Plugin } from "http-proxy-middleware";
import { isConnectionError } from "../errors/errors.ts";
import { MiddlewareRequest, unusedResponse } from "./middleware-request.ts";
import type { ReplicaConnection } from "./replica-connection.ts";

/** A transport by http-proxy-middleware. The response is not written by the middleware: its body is returned as a stream. */
export function createMiddlewareTransport(connectTimeoutMs: number): Transport<ReplicaConnection, IncomingMessage> {
  const middleware = createProxyMiddleware({
    router(request, _response, options) {
      const attempt = attemptOf(request);
      attempt.url = attempt.path;
      // The middleware creates these options for each request.
      Object.assign(options, { agent: attempt.connection.agent });
      return attempt.connection.target;
    },
    pathFilter: () => true,
    changeOrigin: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [createPlugin(connectTimeoutMs)],
  });
  return ({ connection, path }, request, deadline) =>
    new Promise((resolve, reject) => {
      const attempt = new MiddlewareAttempt({ connection, path, request, deadline, resolve, reject });
      void middleware(attempt as unknown as IncomingMessage, unusedResponse, (error) => attempt.reject(error));
    });
}

function createPlugin(connectTimeoutMs: number): Plugin {
  return (server) => {
    server.on("proxyReq", (sent, request) => attemptOf(request).start(sent, connectTimeoutMs));
    server.on("proxyRes", (response, request) => attemptOf(request).respond(response));
    server.on("error", (error, request) => request && attemptOf(request).fail(error));
  };
}

function attemptOf(request: IncomingMessage): MiddlewareAttempt {
  return request as unknown as MiddlewareAttempt;
}

interface AttemptOptions {
  readonly connection: ReplicaConnection;
  readonly path: string;
  readonly request: TransportRequest;
  readonly deadline: Deadline;
  resolve(result: TransportResult<IncomingMessage>): void;
  reject(error: unknown): void;
}

/** One attempt. The middleware names it by its request in all events. */
class MiddlewareAttempt extends MiddlewareRequest implements EndListener {
  readonly path: string;
  readonly connection: ReplicaConnection;
  readonly #o: AttemptOptions;
  #sent: ClientRequest | undefined;
  #isConnected = false;
  #isSettled = false;

  constructor(o: AttemptOptions) {
    super(o.request);
    this.#o = o;
    this.path = o.request.path ?? o.path;
    this.connection = o.connection;
    o.deadline.listener = this;
  }

  get mayBeSent(): boolean {
    return this.#isConnected;
  }

  onEnd(reason: AttemptEndReason, cause: unknown): void {
    this.#settle({ kind: "failed", reason, cause });
    this.#sent?.destroy();
  }

  /** The request has a socket, which may have to be connected first. */
  start(sent: ClientRequest, connectTimeoutMs: number): void {
    if (this.#isSettled) return void sent.destroy();
    this.#sent = sent;
    const { onInformation } = this.#o.request;
    if (onInformation) sent.on("information", ({ statusCode, headers }) => onInformation(statusCode, headers));
    // Without a listener Node closes the connection without an error, and the caller would wait for its deadline.
    sent.once("upgrade", (_response, socket) => {
      socket.destroy();
      this.fail(
        Object.assign(new Error("The service switched protocols without a request for it"), { code: "EPROTO" }),
      );
    });
    const { socket } = sent;
    if (!socket?.connecting) return void (this.#isConnected = true);
    const giveUp = () => sent.destroy(new Error(`No connection within ${connectTimeoutMs} ms`));
    const timer = setTimeout(giveUp, connectTimeoutMs);
    sent.once("close", () => clearTimeout(timer));
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
      this.#isConnected = true;
      clearTimeout(timer);
    });
  }

  respond(response: IncomingMessage): void {
    if (this.#isSettled) return void response.destroy();
    const { statusCode: status = 0, headers, rawHeaders } = response;
    this.#settle({ kind: "response", status, headers, rawHeaders, body: response });
  }

  fail(error: unknown): void {
    if (this.#isSettled) return;
    // Before there is a connection, every error but Node's TypeError for invalid arguments is the service's: that of a certificate too.
    const isOfService = this.#isConnected ? isConnectionError(error) : !(error instanceof TypeError);
    if (!isOfService) return this.reject(error);
    this.#settle({ kind: "failed", reason: this.#isConnected ? "reset" : "refused", cause: error });
    this.#sent?.destroy();
  }

  /** The request cannot be sent to any replica: a bug. */
  reject(error: unknown): void {
    if (this.#isSettled) return;
    this.#settle(undefined);
    this.#o.reject(error ?? new Error("http-proxy-middleware ignored a request"));
    this.#sent?.destroy();
  }

  #settle(result: TransportResult<IncomingMessage> | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#o.deadline.listener = undefined;
    if (result) this.#o.resolve(result);
  }
}
