import type { Dispatcher } from "undici";
import type { Deadline, EndListener, EndReason } from "./deadline.ts";

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type ExchangeResult =
  | {
      readonly kind: "answered";
      readonly replica: string;
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly body: Buffer;
    }
  | {
      readonly kind: "failed";
      readonly replica: string;
      readonly reason: "refused" | "reset" | "too-large" | EndReason;
      readonly cause: unknown;
    };

interface ExchangeRequest {
  readonly method: string;
  /** Path and query; without, the target's own. */
  readonly path?: string;
  /** By name, or names and values in turn. */
  readonly headers: Readonly<Record<string, string>> | readonly string[];
  readonly body?: string | Buffer;
}

interface ExchangeTarget {
  readonly name: string;
  readonly connection: Dispatcher;
  readonly path: string;
}

/** undici's words for a request that cannot be put on the wire at all, to whomever. */
const unsendable = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED"]);

/**
 * One request to one replica, and its whole answer. By `dispatch`, not `request`: only that tells whether the first byte was about to go
 * out, which is what makes "refused" safe to send again; and it saves a stream per answer.
 * @throws Error when the request itself cannot be sent, such as a header with a line break: the caller's bug.
 */
export function exchange(
  target: ExchangeTarget,
  { method, path = target.path, headers, body }: ExchangeRequest,
  deadline: Deadline,
  bodyBytesMax: number,
): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler({
      replica: target.name,
      deadline,
      bodyBytesMax,
      isHead: method === "HEAD",
      resolve,
      reject,
    });
    // undici only reads the headers.
    const options = { method, path, headers: headers as Record<string, string> | string[], body: body ?? null };
    target.connection.dispatch(options, handler);
  });
}

interface Settling {
  readonly replica: string;
  readonly deadline: Deadline;
  readonly bodyBytesMax: number;
  readonly isHead: boolean;
  resolve(result: ExchangeResult): void;
  reject(error: unknown): void;
}

class ExchangeHandler implements Dispatcher.DispatchHandler, EndListener {
  readonly #o: Settling;
  #status = 0;
  #headers: ResponseHeaders = {};
  #bytes = 0;
  /** As a rule one. */
  #chunk: Buffer | undefined;
  #further: Buffer[] | undefined;
  #isSettled = false;
  /** Set from the moment on which bytes may have been sent. */
  #controller: Dispatcher.DispatchController | undefined;

  constructor(o: Settling) {
    this.#o = o;
    o.deadline.listener = this;
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started;
    if (this.#isSettled) started.abort(new Error("given up before it was sent"));
  }

  /** Heads of 1xx come before the answer's own, which takes their place (RFC 9110, section 15.2). */
  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (!this.#o.isHead && Number(headers["content-length"]) > this.#o.bodyBytesMax) this.#refuseLength();
  }

  onResponseData(_: Dispatcher.DispatchController, data: Buffer): void {
    this.#bytes += data.length;
    if (this.#bytes > this.#o.bodyBytesMax) return this.#refuseLength();
    if (this.#chunk) (this.#further ??= []).push(data);
    else this.#chunk = data;
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    const first = this.#chunk ?? Buffer.of();
    const body = this.#further ? Buffer.concat([first, ...this.#further], this.#bytes) : first;
    const { replica } = this.#o;
    this.#settle({ kind: "answered", replica, status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isSettled) return;
    const { replica } = this.#o;
    if (this.#controller) return this.#settle({ kind: "failed", replica, reason: "reset", cause: error });
    if ("code" in error && unsendable.has(String(error.code))) return this.#o.reject(error);
    this.#settle({ kind: "failed", replica, reason: "refused", cause: error });
  }

  onDeadline(reason: EndReason, cause: unknown): void {
    this.#giveUp(reason, cause);
  }

  #refuseLength(): void {
    this.#giveUp("too-large", new Error(`The answer has more than ${this.#o.bodyBytesMax} bytes`));
  }

  /** Answers the caller first, then closes the connection: that is how the replica learns of it. */
  #giveUp(reason: "too-large" | EndReason, cause: unknown): void {
    if (this.#isSettled) return;
    this.#settle({ kind: "failed", replica: this.#o.replica, reason, cause });
    this.#controller?.abort(new Error(`given up: ${reason}`));
  }

  #settle(result: ExchangeResult): void {
    this.#isSettled = true;
    this.#o.deadline.listener = undefined;
    this.#o.resolve(result);
  }
}
