// Stage 5 of 5: say it. Onto the wire.
import type { ServerResponse } from "node:http";
import type { Exchange } from "../admit/exchange.ts";
import type { Observe } from "../telemetry/observation-log.ts";
import type { Told } from "../telemetry/request-record.ts";
import { compress, preferPacking } from "./compress.ts";

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** More headers, names and values in turn. */
  readonly headers?: readonly string[];
  readonly body: Buffer;
  /** Undefined: all is well. */
  readonly told?: Told | undefined;
}

export type WriteAnswer = (exchange: Exchange, answer: Answer) => void;

export interface WriterOptions {
  /** An answer that nobody reads is held in memory: after this time its connection is cut. */
  readonly responseTimeoutMs: number;
  readonly observe: Observe;
}

/**
 * node:http sends a text together with the head, in one write, and a buffer after it, in two. The bytes go through unchanged as latin1.
 * For 1.2 KB that is 25 µs instead of 27 for the whole exchange; a long text would be copied once too often.
 */
const joinedBytesMax = 16_384;

/** @returns a function that writes an answer whole, packed when the client likes. Nothing is written to a client that went away. */
export function createWriter({ responseTimeoutMs, observe }: WriterOptions): WriteAnswer {
  function send(exchange: Exchange, answer: Answer, body: Buffer, encoding: string | undefined): void {
    const { request, response, requestId, trace } = exchange;
    if (response.destroyed || response.headersSent) return;
    response.writeHead(answer.status, listHeaders(exchange, answer, body, encoding));
    if (request.method === "HEAD") response.end();
    else if (body.length > joinedBytesMax) response.end(body);
    else response.end(body.toString("latin1"), "latin1");
    if (isHeld(response))
      cutSlowReader(response, responseTimeoutMs, () =>
        observe({ kind: "answer-cut", requestId, traceId: trace.traceId }),
      );
  }

  return (exchange, answer) => {
    const { body, told } = answer;
    exchange.record?.tell(told);
    const encoding = preferPacking(body, exchange.request.headers["accept-encoding"]);
    if (encoding === undefined) return send(exchange, answer, body, undefined);
    compress(body, encoding, (packed) => send(exchange, answer, packed ?? body, packed && encoding));
  };
}

/** The whole head in one list: node:http takes it as it is, without a table of its own in between. */
function listHeaders(exchange: Exchange, answer: Answer, body: Buffer, encoding: string | undefined): string[] {
  const list = exchange.headers.concat("Content-Type", answer.contentType);
  if (answer.headers) list.push(...answer.headers);
  list.push("X-Content-Type-Options", "nosniff");
  if (!answer.headers?.includes("Cache-Control")) list.push("Cache-Control", "no-store");
  if (encoding !== undefined) list.push("Content-Encoding", encoding);
  list.push("Content-Length", String(body.length));
  return list;
}

/** Whether something of an answer that was written whole still waits here for its reader. Mostly the system takes all at once. */
function isHeld({ socket, writableFinished, closed }: ServerResponse): boolean {
  return !writableFinished && !closed && (socket === null || socket.writableLength > 0);
}

function cutSlowReader(response: ServerResponse, afterMs: number, onCut: () => void): void {
  const timer = setTimeout(() => {
    onCut();
    response.destroy();
  }, afterMs);
  response.once("close", () => clearTimeout(timer));
}
