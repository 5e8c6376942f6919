import { connect } from "node:net";
import { createHttpReader } from "./http-reader.ts";

export interface Answered {
  readonly status: number;
  readonly bodyBytes: number;
  readonly latencyMs: number;
}

export interface Connection {
  /** One request at a time: `done` is called before the next is sent. */
  send(request: Buffer, done: (answer: Answered) => void): void;
  close(): void;
}

/** A keep-alive connection that reads no more of an answer than its status and its length. */
export function openConnection(port: number, onLost: (error: Error) => void): Connection {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let done: ((answer: Answered) => void) | undefined;
  let sentAt = 0;
  let status = 0;
  let bodyBytes = 0;

  const read = createHttpReader({
    onHead(head) {
      status = Number(head.slice(9, 12));
      bodyBytes = 0;
    },
    onBody: (bytes) => (bodyBytes += bytes.length),
    onEnd: () => done?.({ status, bodyBytes, latencyMs: performance.now() - sentAt }),
  });
  const lose = (why: string) => onLost(new Error(`The gateway ${why} while it was loaded.`));
  socket.on("data", read);
  socket.on("error", ({ message }) => lose(`broke a connection (${message})`));
  socket.on("end", () => lose("closed a connection"));
  return {
    send(request, whenDone) {
      done = whenDone;
      sentAt = performance.now();
      socket.write(request);
    },
    close() {
      socket.removeAllListeners("end");
      socket.destroy();
    },
  };
}

/** A POST of these JSON bytes as every client sends it. */
export function toPost(port: number, json: string): Buffer {
  const body = Buffer.from(json);
  const head = [
    "POST /graphql HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Accept: application/json",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}
