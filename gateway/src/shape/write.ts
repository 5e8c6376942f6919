// Stage 5 of 5: say it. Onto the wire.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Refusal, refusalBody } from "../errors.ts";
import { compress } from "./compress.ts";

export interface Answer {
  readonly status: number;
  /** Names in any case. `Content-Type` is required. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Writes an answer whole, packed when the client likes. Nothing is written to a client that went away. */
export async function writeAnswer(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { bytes, encoding } = await compress(toBytes(answer.body), request.headers["accept-encoding"]);
  if (response.destroyed || response.headersSent) return;
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  response.setHeader("Vary", [response.getHeader("Vary") ?? [], "Accept-Encoding"].flat().join(", "));
  response.setHeader("X-Content-Type-Options", "nosniff");
  if (!response.hasHeader("Cache-Control")) response.setHeader("Cache-Control", "no-store");
  if (encoding !== undefined) response.setHeader("Content-Encoding", encoding);
  response.setHeader("Content-Length", bytes.length);
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function toBytes(body: string | Buffer): Buffer {
  return typeof body === "string" ? Buffer.from(body) : body;
}

/** An answer that nobody reads is held in memory: after this time its connection is cut. Call it once the answer is written. */
export function cutSlowReader(response: ServerResponse, afterMs: number, onCut: () => void): void {
  if (response.closed) return;
  const timer = setTimeout(() => {
    onCut();
    response.destroy();
  }, afterMs);
  response.once("close", () => clearTimeout(timer));
}

/** A refusal is JSON in a GraphQL answer's shape, whatever was asked for. */
export function toAnswer(refusal: Refusal, contentType = "application/json"): Answer {
  return {
    status: refusal.status,
    headers: { "Content-Type": `${contentType}; charset=utf-8`, ...refusal.headers },
    body: refusalBody(refusal.code, refusal.message),
  };
}
