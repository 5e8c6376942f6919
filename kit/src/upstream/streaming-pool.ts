import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { ReplicaAddress } from "./address-book.ts";
import type { Deadline, EndReason } from "./deadline.ts";
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
      /** Has to be read or destroyed. Destroyed before its end it takes the connection with it. */
      readonly body: Readable;
    }
  /** `refused`: nothing was sent. `reset`: the request may have arrived. */
  | { readonly kind: "failed"; readonly reason: "refused" | "reset" | EndReason; readonly cause: unknown };

/** Connections to one replica whose answers are read as they come, at the reader's pace, so of any length. */
export interface StreamingPool {
  /**
   * Resolves with the head of the answer. `deadline.onEnd` is free again then: whoever reads the body keeps the time.
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

/** By `dispatch`, not `request`: only that tells whether the first byte was about to go out, and keeps the headers as they came. */
function ask(pool: Dispatcher, request: StreamedRequest, deadline: Deadline): Promise<StreamedResult> {
  const { method, path, headers, body = null } = request;
  return new Promise((resolve, reject) => {
    const handler = createHandler({ deadline, resolve, reject });
    // undici only reads the headers.
    pool.dispatch({ method, path, headers: headers as string[], body }, handler);
  });
}

interface Settling {
  readonly deadline: Deadline;
  resolve(result: StreamedResult): void;
  reject(error: unknown): void;
}

function createHandler({ deadline, resolve, reject }: Settling): Dispatcher.DispatchHandler {
  /** Set from the moment on which bytes may have been sent. */
  let controller: Dispatcher.DispatchController | undefined;
  let body: StreamedBody | undefined;
  let isSettled = false;
  function settle(result: StreamedResult): void {
    isSettled = true;
    deadline.onEnd = undefined;
    resolve(result);
  }
  deadline.onEnd = (reason, cause) => {
    settle({ kind: "failed", reason, cause });
    controller?.abort(new Error(`given up: ${reason}`));
  };

  return {
    onRequestStart(started) {
      controller = started;
      if (isSettled) started.abort(new Error("given up before it was sent"));
    },
    onResponseStart(started, status) {
      // Heads of 1xx come before the answer's own (RFC 9110, section 15.2).
      if (status < 200 || isSettled) return;
      body = new StreamedBody(started);
      settle({ kind: "answered", status, headers: readRawHeaders(started.rawHeaders), body });
    },
    onResponseData(started, chunk) {
      if (body && !body.push(chunk)) started.pause();
    },
    onResponseEnd: () => body?.finish(),
    onResponseError(_, error) {
      if (body) return void body.destroy(error);
      if (isSettled) return;
      if (controller) return settle({ kind: "failed", reason: "reset", cause: error });
      if ("code" in error && unsendable.has(String(error.code))) return reject(error);
      settle({ kind: "failed", reason: "refused", cause: error });
    },
  };
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
