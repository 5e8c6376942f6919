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

export interface Exchange {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

/** undici's words for a request that cannot be put on the wire at all, to whomever. */
const unsendable = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED"]);

/**
 * One request to one replica, and its whole answer. By `dispatch`, not `request`: only that tells whether the first byte was about to go
 * out, which is what makes "refused" safe to send again; and it saves a stream per answer.
 * @throws Error when the request itself cannot be sent, such as a header with a line break: the caller's bug.
 */
export function exchange(
  pool: Dispatcher,
  { method, path, headers, body }: Exchange,
  { deadline, bodyBytesMax }: { readonly deadline: Deadline; readonly bodyBytesMax: number },
): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    const handler = createHandler({ deadline, bodyBytesMax, isHead: method === "HEAD", resolve, reject });
    pool.dispatch({ method, path, headers, body: body ?? null }, handler);
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
  const answer = createAnswer(bodyBytesMax, isHead);
  /** Set from the moment on which bytes may have been sent. */
  let controller: Dispatcher.DispatchController | undefined;
  let settled = false;
  function settle(result: ExchangeResult): void {
    settled = true;
    deadline.onEnd(undefined);
    resolve(result);
  }
  /** Answers the caller first, then closes the connection: that is how the replica learns of it. */
  function giveUp(reason: "too-large" | EndReason, cause: unknown): void {
    if (settled) return;
    settle({ kind: "failed", reason, cause });
    controller?.abort(new Error(`given up: ${reason}`));
  }
  const refuseLarge = () => giveUp("too-large", new Error(`The answer has more than ${bodyBytesMax} bytes`));
  deadline.onEnd(giveUp);

  return {
    onRequestStart(started) {
      controller = started;
      if (settled) started.abort(new Error("given up before it was sent"));
    },
    onResponseStart: (_, status, headers) => void (answer.start(status, headers) || refuseLarge()),
    onResponseData: (_, chunk) => void (answer.add(chunk) || refuseLarge()),
    onResponseEnd() {
      if (!settled) settle(answer.end());
    },
    onResponseError(_, error) {
      if (settled) return;
      if (controller) return settle({ kind: "failed", reason: "reset", cause: error });
      if ("code" in error && unsendable.has(String(error.code))) return reject(error);
      settle({ kind: "failed", reason: "refused", cause: error });
    },
  };
}

/** Collects an answer; `start` and `add` are false once it has more bytes than it may. */
function createAnswer(bodyBytesMax: number, isHead: boolean) {
  let status = 0;
  let headers: ResponseHeaders = {};
  let bytes = 0;
  const chunks: Buffer[] = [];
  return {
    /** Heads of 1xx come before the answer's own, which takes their place (RFC 9110, section 15.2). */
    start(code: number, fields: ResponseHeaders): boolean {
      status = code;
      headers = fields;
      return isHead || !(Number(fields["content-length"]) > bodyBytesMax);
    },
    add(chunk: Buffer): boolean {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) return false;
      chunks.push(chunk);
      return true;
    },
    end: (): ExchangeResult => ({
      kind: "answered",
      status,
      headers,
      body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes),
    }),
  };
}
