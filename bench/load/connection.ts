import { connect } from "node:net";
import { createHttpReader } from "./http-reader.ts";

export interface LoadRequest {
  readonly path: string;
  /** JSON, sent by POST; undefined for a GET. */
  readonly body?: string;
  /** Sent in `If-None-Match`. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ResponseSummary {
  readonly status: number;
  readonly bodyBytes: number;
  /** The start of the body of an error (status 400 and above). */
  readonly excerpt: string;
  readonly latencyMs: number;
}

export interface LoadConnection {
  /** Sends one request. Call it again only after `done` was called with the response. */
  send(request: Buffer | string, done: (response: ResponseSummary) => void): void;
  close(): void;
}

/** All connections read into it, one after another. With a buffer for each read, garbage collections delayed requests by up to 15 ms. */
const readBuffer = Buffer.allocUnsafe(65_536);
const excerptCharsMax = 300;

export interface ConnectionOptions {
  readonly port: number;
  /** The address of the client, in 127.0.0.0/8. */
  readonly localAddress?: string;
  onLost(error: Error): void;
}

/** Opens a keep-alive connection. A request can be sent at once: it waits until the connection is established. */
export function openConnection({ port, localAddress = "127.0.0.1", onLost }: ConnectionOptions): LoadConnection {
  /** Of the pending request; undefined before the first. */
  let onResponse: ((response: ResponseSummary) => void) | undefined;
  let sentAtMs = 0;
  let status = 0;
  let bodyBytes = 0;
  let excerpt = "";

  const read = createHttpReader({
    onHead(head) {
      status = Number(head.slice(9, 12)); // "HTTP/1.1 200 OK"
      bodyBytes = 0;
      excerpt = "";
    },
    onBody(bytes) {
      if (status >= 400) excerpt = (excerpt + bytes.toString("latin1", 0, excerptCharsMax)).slice(0, excerptCharsMax);
      bodyBytes += bytes.length;
    },
    onEnd: () => onResponse?.({ status, bodyBytes, excerpt, latencyMs: performance.now() - sentAtMs }),
  });
  const onread = {
    buffer: readBuffer,
    callback(length: number) {
      read(readBuffer.subarray(0, length));
      return true; // Continue to read.
    },
  };
  const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true, onread });
  // With `onread` the end of the connection is reported only while the socket flows.
  socket.resume();
  const reportLost = (problem: string) => onLost(new Error(`The server ${problem} under load.`));
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
export function toBytes(port: number, { path, body, etag, headers = {} }: LoadRequest): Buffer {
  const method = body === undefined ? "GET" : "POST";
  const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, "Accept: application/json"];
  if (etag !== undefined) head.push(`If-None-Match: ${etag}`);
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
  if (body !== undefined) head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body ?? ""}`);
}
