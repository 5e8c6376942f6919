import { connect } from "node:net";
import { createHttpReader } from "./http-reader.ts";

export interface LoadRequest {
  readonly path: string;
  /** JSON, sent by POST; undefined for a GET. */
  readonly body?: string;
  /** Sent in `If-None-Match`. */
  readonly etag?: string;
  /** Sent in `Authorization`. */
  readonly authorization?: string;
}

export interface ResponseSummary {
  readonly status: number;
  readonly bodyBytes: number;
  readonly latencyMs: number;
}

export interface LoadConnection {
  /** Sends one request. Call it again only after `done` was called with the response. */
  send(request: Buffer, done: (response: ResponseSummary) => void): void;
  close(): void;
}

/** Opens a keep-alive connection that reads only the status and the length of a response. */
export function openConnection(port: number, onLost: (error: Error) => void): LoadConnection {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  /** Of the pending request; undefined before the first. */
  let onResponse: ((response: ResponseSummary) => void) | undefined;
  let sentAtMs = 0;
  let status = 0;
  let bodyBytes = 0;

  const read = createHttpReader({
    onHead(head) {
      status = Number(head.slice(9, 12)); // "HTTP/1.1 200 OK"
      bodyBytes = 0;
    },
    onBody(bytes) {
      bodyBytes += bytes.length;
    },
    onEnd: () => onResponse?.({ status, bodyBytes, latencyMs: performance.now() - sentAtMs }),
  });
  const reportLost = (problem: string) => onLost(new Error(`The server ${problem} under load.`));
  socket.on("data", read);
  socket.on("error", ({ message }) => reportLost(`broke a connection (${message})`));
  socket.on("end", () => reportLost("closed a connection"));
  return {
    send(request, done) {
      onResponse = done;
      sentAtMs = performance.now();
      socket.write(request);
    },
    close() {
      // The end of a connection that we close is no loss.
      socket.removeAllListeners("end");
      socket.destroy();
    },
  };
}

/** Returns the bytes of a complete request. */
export function toBytes(port: number, { path, body, etag, authorization }: LoadRequest): Buffer {
  const method = body === undefined ? "GET" : "POST";
  const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, "Accept: application/json"];
  if (etag !== undefined) head.push(`If-None-Match: ${etag}`);
  if (authorization !== undefined) head.push(`Authorization: ${authorization}`);
  if (body !== undefined) head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body ?? ""}`);
}
