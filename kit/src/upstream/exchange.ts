import type { Dispatcher } from "undici";
import type { Deadline, EndReason } from "./deadline.ts";

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type ExchangeResult =
  | { readonly kind: "answered"; readonly status: number; readonly headers: ResponseHeaders; readonly body: Buffer }
  | {
      readonly kind: "failed";
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
    const handler = createHandler({ deadline, bodyBytesMax, isHead: method === "HEAD", resolve, reject });
    // undici only reads the headers.
    const options = { method, path, headers: headers as Record<string, string> | string[], body: body ?? null };
    target.connection.dispatch(options, handler);
  });
}

interface Settling {
  readonly deadline: Deadline;
  readonly bodyBytesMax: number;
  readonly isHead: boolean;
  resolve(result: ExchangeResult): void;
  reject(error: unknown): void;
}

function createHandler({ deadline, bodyBytesMax, isHead, resolve, reject }: Settling): Dispatcher.DispatchHandler {
  let status = 0;
  let responseHeaders: ResponseHeaders = {};
  let bytes = 0;
  /** As a rule one. */
  let chunk: Buffer | undefined;
  let further: Buffer[] | undefined;
  let settled = false;
  /** Set from the moment on which bytes may have been sent. */
  let controller: Dispatcher.DispatchController | undefined;
  function settle(result: ExchangeResult): void {
    settled = true;
    deadline.onEnd = undefined;
    resolve(result);
  }
  /** Answers the caller first, then closes the connection: that is how the replica learns of it. */
  function giveUp(reason: "too-large" | EndReason, cause: unknown): void {
    if (settled) return;
    settle({ kind: "failed", reason, cause });
    controller?.abort(new Error(`given up: ${reason}`));
  }
  deadline.onEnd = giveUp;

  return {
    onRequestStart(started) {
      controller = started;
      if (settled) started.abort(new Error("given up before it was sent"));
    },
    /** Heads of 1xx come before the answer's own, which takes their place (RFC 9110, section 15.2). */
    onResponseStart(_, code, headers) {
      status = code;
      responseHeaders = headers;
      if (!isHead && Number(headers["content-length"]) > bodyBytesMax) giveUp("too-large", tooLarge(bodyBytesMax));
    },
    onResponseData(_, data) {
      bytes += data.length;
      if (bytes > bodyBytesMax) return giveUp("too-large", tooLarge(bodyBytesMax));
      if (chunk) (further ??= []).push(data);
      else chunk = data;
    },
    onResponseEnd() {
      if (settled) return;
      const first = chunk ?? Buffer.of();
      const body = further ? Buffer.concat([first, ...further], bytes) : first;
      settle({ kind: "answered", status, headers: responseHeaders, body });
    },
    onResponseError(_, error) {
      if (settled) return;
      if (controller) return settle({ kind: "failed", reason: "reset", cause: error });
      if ("code" in error && unsendable.has(String(error.code))) return reject(error);
      settle({ kind: "failed", reason: "refused", cause: error });
    },
  };
}

function tooLarge(bodyBytesMax: number): Error {
  return new Error(`The answer has more than ${bodyBytesMax} bytes`);
}
