import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { ReplicaAddress } from "./address-book.ts";
import type { Deadline, EndListener, EndReason } from "./deadline.ts";
import { openPool, type PoolLimits } from "./pool.ts";

export interface StreamedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn. Sent as they are; `host` and `content-length` are added. */
  readonly headers: readonly string[];
  readonly body: Buffer | Readable | undefined;
}

export type StreamedResult =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** Names and values in turn, as they came. */
      readonly headers: readonly string[];
      /**
       * All of a short answer. Or what has to be read or destroyed; destroyed before its end it takes the connection with it.
       */
      readonly body: Buffer | Readable;
    }
  /** `refused`: nothing was sent. `reset`: the request may have arrived, or its short answer broke off. */
  | { readonly kind: "failed"; readonly reason: "refused" | "reset" | EndReason; readonly cause: unknown };

/** Connections to one replica whose answers may be of any length: long ones are read as they come, at the reader's pace. */
export interface StreamingPool {
  /**
   * Resolves with a short answer, or with the head of a long one. `deadline.listener` is free again then: whoever reads the body keeps the time.
   * @throws Error when the request itself cannot be sent, such as a header with a line break: a bug of the caller.
   */
  ask(request: StreamedRequest, deadline: Deadline): Promise<StreamedResult>;
  /** Resolves once nothing is under way. */
  close(): Promise<void>;
}

export function openStreamingPool(address: ReplicaAddress, limits: PoolLimits): StreamingPool {
  const pool = openPool(address, limits);
  return { ask: (request, deadline) => ask(pool, request, deadline), close: () => pool.close() };
}

/** undici's words for a request that cannot be put on the wire at all, to whomever. */
const unsendable = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED"]);

/**
 * An answer that says itself to have no more bytes is told of once all of it is here: then one that breaks off can still be asked for again,
 * and it costs no stream.
 */
const shortBytesMax = 65_536;

/** By `dispatch`, not `request`: only that tells whether the first byte was about to go out, and keeps the headers as they came. */
function ask(pool: Dispatcher, request: StreamedRequest, deadline: Deadline): Promise<StreamedResult> {
  const { method, path, headers, body = null } = request;
  return new Promise((resolve, reject) => {
    const handler = new AnswerHandler({ deadline, isHead: method === "HEAD", resolve, reject });
    // undici only reads the headers.
    pool.dispatch({ method, path, headers: headers as string[], body }, handler);
  });
}

interface Settling {
  readonly deadline: Deadline;
  readonly isHead: boolean;
  resolve(result: StreamedResult): void;
  reject(error: unknown): void;
}

class AnswerHandler implements Dispatcher.DispatchHandler, EndListener {
  readonly #o: Settling;
  /** Set from the moment on which bytes may have been sent. */
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  /** Of a short answer, as a rule one. */
  #chunk: Buffer | undefined;
  #further: Buffer[] | undefined;
  /** Of a long one. */
  #stream: StreamedBody | undefined;
  #isSettled = false;

  constructor(o: Settling) {
    this.#o = o;
    o.deadline.listener = this;
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started;
    if (this.#isSettled) started.abort(new Error("given up before it was sent"));
  }

  onResponseStart(started: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Heads of 1xx come before the answer's own (RFC 9110, section 15.2).
    if (status < 200 || this.#isSettled) return;
    this.#status = status;
    if (this.#isShort(headers)) return;
    this.#stream = new StreamedBody(started);
    this.#answer(started, this.#stream);
  }

  onResponseData(started: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream) {
      if (!this.#stream.push(chunk)) started.pause();
    } else if (this.#chunk) (this.#further ??= []).push(chunk);
    else this.#chunk = chunk;
  }

  onResponseEnd(ended: Dispatcher.DispatchController): void {
    if (this.#stream) return this.#stream.finish();
    if (this.#isSettled) return;
    const first = this.#chunk ?? Buffer.of();
    this.#answer(ended, this.#further ? Buffer.concat([first, ...this.#further]) : first);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#stream) return void this.#stream.destroy(error);
    if (this.#isSettled) return;
    if (this.#controller) return this.#settle({ kind: "failed", reason: "reset", cause: error });
    if ("code" in error && unsendable.has(String(error.code))) return this.#o.reject(error);
    this.#settle({ kind: "failed", reason: "refused", cause: error });
  }

  /** Some have no body whatever they say of its length (RFC 9112, 6.3). */
  #isShort({ "content-length": length }: IncomingHttpHeaders): boolean {
    return this.#o.isHead || this.#status === 304 || this.#status === 204 || Number(length) <= shortBytesMax;
  }

  onDeadline(reason: EndReason, cause: unknown): void {
    this.#settle({ kind: "failed", reason, cause });
    this.#controller?.abort(new Error(`given up: ${reason}`));
  }

  #answer({ rawHeaders }: Dispatcher.DispatchController, body: Buffer | Readable): void {
    this.#settle({ kind: "answered", status: this.#status, headers: readRawHeaders(rawHeaders), body });
  }

  #settle(result: StreamedResult): void {
    this.#isSettled = true;
    this.#o.deadline.listener = undefined;
    this.#o.resolve(result);
  }
}

/** The body of an answer, which takes from the connection only what is asked of it. */
class StreamedBody extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  #isWhole = false;

  constructor(controller: Dispatcher.DispatchController) {
    super();
    this.#controller = controller;
    // It may break before its reader is there; `errored` keeps it.
    this.on("error", () => {});
  }

  finish(): void {
    this.#isWhole = true;
    this.push(null);
  }

  override _read(): void {
    this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#isWhole) this.#controller.abort(error ?? new Error("the rest is not wanted"));
    callback(error);
  }
}

function readRawHeaders(raw: Dispatcher.DispatchController["rawHeaders"]): readonly string[] {
  if (!Array.isArray(raw)) return Object.entries(raw ?? {}).flatMap(([name, value]) => pairsOf(name, value));
  return raw.map((text) => (typeof text === "string" ? text : text.toString("latin1")));
}

function pairsOf(name: string, value: string | readonly string[] | undefined): readonly string[] {
  return [value ?? []].flat().flatMap((one) => [name, one]);
}
