// Sends attempts with undici: the subgraph requests of the gateway, and the reads of the REST proxy.
import { Readable } from "node:stream";
import { createSecureContext } from "node:tls";
import { type Dispatcher, Pool } from "undici";
import { createFixedLookup, type ReplicaAddress } from "./addresses.ts";
import { probesMax } from "./breaker.ts";
import type { AttemptEndReason, AttemptPhase, EndListener, RequestDeadline } from "./request-deadline.ts";
import type { ResponseHeaders, Transport, TransportRequest, TransportResult } from "./transport.ts";

export type { Pool };

export interface PoolLimits {
  /** Of requests. */
  readonly connectionsMax: number;
  /** TLS included. Rounded up to the next half second. */
  readonly connectTimeoutMs: number;
  readonly tls?: TlsMaterial | undefined;
}

/** In PEM. */
export interface TlsMaterial {
  /** The only authorities whose certificates are accepted. Default: those of Node. */
  readonly ca?: string | undefined;
  /** This client's certificate, with the intermediate ones, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * A draining replica responds with `Connection: close` for longer (`DRAIN_DELAY_MS`, 2,000 in deployments), so this client has no idle connection
 * left when the replica closes them, also after a pause of the process: Node runs timers before it reads sockets.
 */
export const idleMsMax = 1_000;

export function openPool(
  { origin, addresses }: ReplicaAddress,
  { connectionsMax, connectTimeoutMs, tls }: PoolLimits,
): Pool {
  const options: Pool.Options = {
    // A probe that waits for a connection would make a service that is only slow look silent.
    connections: connectionsMax + probesMax,
    pipelining: 1,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    // undici's are idle times; the request's deadline covers everything.
    keepAliveTimeout: idleMsMax,
    keepAliveMaxTimeout: idleMsMax,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      ...(addresses.length > 0 && { lookup: createFixedLookup(addresses) }),
      // One context: otherwise the PEM texts are parsed for each connection.
      ...(tls && { secureContext: createSecureContext(tls) }),
    },
  };
  return new Pool(origin, options);
}

interface BodyMode {
  readonly isStreamed: boolean;
  readonly bodyBytesMax: number;
}

const streamedMode: BodyMode = { isStreamed: true, bodyBytesMax: Infinity };

export function createBufferedTransport(bodyBytesMax: number): Transport<Dispatcher, Buffer> {
  const mode: BodyMode = { isStreamed: false, bodyBytesMax };
  return (replica, request, deadline) => dispatch(replica, request, deadline, mode) as Promise<TransportResult<Buffer>>;
}

/** Streams long responses at the reader's pace. */
export const streamedTransport: Transport<Dispatcher, Buffer | Readable> = (replica, request, deadline) =>
  dispatch(replica, request, deadline, streamedMode);

/** By `Content-Length`. A whole response can be retried if it breaks, and needs no stream. */
const shortBytesMax = 65_536;
/** Of undici, for a request that cannot be sent to any replica. */
const unsendableCodes = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED"]);

/** `dispatch` reports when the first byte may be sent: a request that fails before is safe to send again. It saves a stream per response. */
function dispatch(
  { connection, path: defaultPath }: { readonly connection: Dispatcher; readonly path: string },
  request: TransportRequest,
  deadline: RequestDeadline,
  mode: BodyMode,
): Promise<TransportResult<Buffer | Readable>> {
  const { method, path = defaultPath, headers, body = null } = request;
  return new Promise((resolve, reject) => {
    const handler = new ResponseHandler({ request, deadline, mode, resolve, reject });
    connection.dispatch({ method, path, headers: headers as string[], body }, handler);
  });
}

interface ResponseHandlerOptions {
  readonly request: TransportRequest;
  readonly deadline: RequestDeadline;
  readonly mode: BodyMode;
  resolve(result: TransportResult<Buffer | Readable>): void;
  reject(error: unknown): void;
}

class ResponseHandler implements Dispatcher.DispatchHandler, EndListener {
  readonly #o: ResponseHandlerOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: ResponseHeaders = {};
  #bytes = 0;
  /** No array for the one chunk of most bodies. */
  #firstChunk: Buffer | undefined;
  #moreChunks: Buffer[] | undefined;
  #stream: ResponseStream | undefined;
  #isSettled = false;

  constructor(o: ResponseHandlerOptions) {
    this.#o = o;
    o.deadline.listener = this;
  }

  get phase(): AttemptPhase {
    if (this.#status > 0) return "responding";
    return this.#controller ? "sent" : "connecting";
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("The request ended before it was sent"));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.#isSettled) return;
    if (status < 200) {
      this.#o.request.onInformation?.(status, headers);
      return;
    }
    this.#status = status;
    this.#headers = headers;
    const { isStreamed, bodyBytesMax } = this.#o.mode;
    // NaN without a Content-Length: then both comparisons below are false.
    const length = this.#hasBody() ? Number(headers["content-length"]) : 0;
    if (length > bodyBytesMax) return this.#failTooLarge();
    const isReadWhole = !isStreamed || length <= shortBytesMax;
    if (isReadWhole) return;
    this.#stream = new ResponseStream(controller);
    this.#respond(controller, this.#stream);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream) {
      const wantsMore = this.#stream.push(chunk);
      if (!wantsMore) controller.pause();
      return;
    }
    this.#bytes += chunk.length;
    if (this.#bytes > this.#o.mode.bodyBytesMax) return this.#failTooLarge();
    if (!this.#firstChunk) this.#firstChunk = chunk;
    else if (this.#moreChunks) this.#moreChunks.push(chunk);
    else this.#moreChunks = [chunk];
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#stream) return this.#stream.finish();
    if (this.#isSettled) return;
    const first = this.#firstChunk ?? Buffer.of();
    const body = this.#moreChunks ? Buffer.concat([first, ...this.#moreChunks], this.#bytes) : first;
    this.#respond(controller, body);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#stream) {
      this.#stream.destroy(error);
      return;
    }
    if (this.#isSettled) return;
    const mayBeSent = this.#controller !== undefined;
    const code = "code" in error ? String(error.code) : "";
    // The request chose the length of the headers: another replica would send them too.
    const reason = code === "UND_ERR_HEADERS_OVERFLOW" ? "too-large" : "reset";
    if (mayBeSent) return this.#settle({ kind: "failed", reason, cause: error });
    const isUnsendable = unsendableCodes.has(code);
    if (isUnsendable) return this.#o.reject(error);
    this.#settle({ kind: "failed", reason: "refused", cause: error });
  }

  onEnd(reason: AttemptEndReason, cause: unknown): void {
    this.#fail(reason, cause);
  }

  /** Whatever their Content-Length (RFC 9112, section 6.3). */
  #hasBody(): boolean {
    return this.#o.request.method !== "HEAD" && this.#status !== 204 && this.#status !== 304;
  }

  #failTooLarge(): void {
    const { bodyBytesMax } = this.#o.mode;
    this.#fail("too-large", new Error(`The response has more than ${bodyBytesMax} bytes`));
  }

  /** Resolves before it closes the connection, which stops the replica's work. */
  #fail(reason: "too-large" | AttemptEndReason, cause: unknown): void {
    if (this.#isSettled) return;
    this.#settle({ kind: "failed", reason, cause });
    this.#controller?.abort(new Error(`The request ended: ${reason}`));
  }

  #respond({ rawHeaders }: Dispatcher.DispatchController, body: Buffer | Readable): void {
    this.#settle({
      kind: "response",
      status: this.#status,
      headers: this.#headers,
      rawHeaders: rawHeaders as readonly Buffer[],
      body,
    });
  }

  #settle(result: TransportResult<Buffer | Readable>): void {
    this.#isSettled = true;
    this.#o.deadline.listener = undefined;
    this.#o.resolve(result);
  }
}

/** Received at its reader's pace. Destroyed before its end, it closes the connection. */
class ResponseStream extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  #isComplete = false;

  constructor(controller: Dispatcher.DispatchController) {
    super();
    this.#controller = controller;
    // The body may fail before it has a reader; `errored` keeps the error.
    this.on("error", () => {});
  }

  finish(): void {
    this.#isComplete = true;
    this.push(null);
  }

  override _read(): void {
    this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#isComplete) this.#controller.abort(error ?? new Error("The reader closed the response body"));
    callback(error);
  }
}
