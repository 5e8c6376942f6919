import type { ClientRequest, IncomingMessage } from "node:http";
import type { Deadline, EndListener, EndReason } from "@tributary/kit/upstream/deadline";
import { createProxyMiddleware, type Plugin } from "http-proxy-middleware";
import { isConnectionError } from "../errors/errors.ts";
import type { Attempt, AttemptRequest, AttemptResult } from "./attempt.ts";
import type { ReplicaConnection } from "./replica-connection.ts";
import { StandInRequest, StandInResponse } from "./stand-ins.ts";

/**
 * Attempts by http-proxy-middleware. It gets stand-ins for the client's request and response, so that a second attempt meets nothing of the
 * first: no listeners, no late error, no response that the first one took down with itself.
 */
export function createMiddlewareAttempt(connectTimeoutMs: number): Attempt {
  const middleware = createProxyMiddleware({
    // The middleware makes these options anew for each request, so the replica's agent goes here too.
    router(request, _response, options) {
      const exchange = exchangeOf(request);
      exchange.showTarget();
      const { target, agent } = exchange.connection;
      Object.assign(options, { agent });
      return target;
    },
    pathFilter: () => true,
    changeOrigin: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [createPlugin(connectTimeoutMs)],
  });

  return (connection, request, deadline) =>
    new Promise((resolve, reject) => {
      const exchange = new Exchange({ connection, request, deadline, resolve, reject });
      void middleware(exchange.asRequest(), exchange.response.asResponse(), (error) => exchange.throwBack(error));
    });
}

function createPlugin(connectTimeoutMs: number): Plugin {
  return (server) => {
    server.on("proxyReq", (upstream, request) => exchangeOf(request).begin(upstream, connectTimeoutMs));
    server.on("proxyRes", (answer, request) => exchangeOf(request).succeed(answer));
    server.on("error", (error, request) => request && exchangeOf(request).fail(error));
  };
}

function exchangeOf(request: IncomingMessage): Exchange {
  return request as unknown as Exchange;
}

interface ExchangeOptions {
  readonly connection: ReplicaConnection;
  readonly request: AttemptRequest;
  readonly deadline: Deadline;
  resolve(result: AttemptResult): void;
  reject(error: unknown): void;
}

/** One attempt. It is its own stand-in for the request, since the middleware names what happens by that. */
class Exchange extends StandInRequest implements EndListener {
  readonly connection: ReplicaConnection;
  readonly response = new StandInResponse();
  readonly #o: ExchangeOptions;
  #isConnected = false;
  #isSettled = false;

  constructor(o: ExchangeOptions) {
    super(o.request);
    this.#o = o;
    this.connection = o.connection;
    o.deadline.listener = this;
  }

  onDeadline(reason: EndReason, cause: unknown): void {
    this.#settle({ kind: "failed", reason, cause });
    this.response.destroy();
  }

  /** The request has a socket, which may have to be connected yet. */
  begin(upstream: ClientRequest, connectTimeoutMs: number): void {
    const { socket } = upstream;
    if (this.#isSettled) return void upstream.destroy();
    // Without a listener Node ends the request without a word, and the caller would wait for the deadline.
    upstream.once("upgrade", (_answer, switched) => {
      switched.destroy();
      this.fail(Object.assign(new Error("The service switched protocols unasked."), { code: "EPROTO" }));
    });
    if (!socket?.connecting) return void (this.#isConnected = true);
    const timer = setTimeout(
      () => upstream.destroy(new Error(`No connection within ${connectTimeoutMs} ms`)),
      connectTimeoutMs,
    );
    upstream.once("close", () => clearTimeout(timer));
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
      this.#isConnected = true;
      clearTimeout(timer);
    });
  }

  succeed(answer: IncomingMessage): void {
    if (this.#isSettled) return void answer.destroy();
    const { statusCode: status = 0, rawHeaders: headers } = answer;
    this.#settle({ kind: "answered", status, headers, body: answer });
    this.response.finish();
  }

  fail(error: unknown): void {
    if (this.#isSettled) return;
    const reason = this.#isConnected ? "reset" : "refused";
    // Before there is a connection all but Node's refusal of our own arguments is the service's: a certificate too.
    const isTheirs = this.#isConnected ? isConnectionError(error) : !(error instanceof TypeError);
    if (!isTheirs) return this.throwBack(error);
    this.#settle({ kind: "failed", reason, cause: error });
    this.response.destroy();
  }

  /** The request cannot be sent at all: a bug of ours. */
  throwBack(error: unknown): void {
    if (this.#isSettled) return;
    this.#end();
    this.#o.reject(error ?? new Error("The middleware took no notice of a request."));
    this.response.destroy();
  }

  #settle(result: AttemptResult): void {
    if (this.#isSettled) return;
    this.#end();
    this.#o.resolve(result);
  }

  #end(): void {
    this.#isSettled = true;
    this.#o.deadline.listener = undefined;
  }
}
