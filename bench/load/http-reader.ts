/** Receives the messages of one connection, in order. */
export interface HttpMessageListener {
  /** @param head start line and header fields, without the empty line. */
  onHead(head: string): void;
  /** Called for each piece of the body. The buffer is a view of the socket's bytes. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

/**
 * Reads HTTP/1.1 requests or responses from a connection's bytes, with Content-Length or chunked transfer coding.
 * It does not validate: all peers in the benchmark send well-formed messages, and the reader's CPU time must be low.
 */
export function createHttpReader(listener: HttpMessageListener): (bytes: Buffer) => void {
  type State = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailer";
  let state: State = "head";
  let rest: Buffer = Buffer.alloc(0);
  let missingBytes = 0;

  const end = (): State => {
    listener.onEnd();
    return "head";
  };

  /** Returns the number of bytes consumed, or -1 if more bytes are needed. */
  const step = (bytes: Buffer, at: number): number => {
    if (state === "head") return readHead(bytes, at);
    if (state === "body" || state === "chunk") return readBody(bytes, at);
    const lineEndAt = bytes.indexOf(lineEnd, at);
    if (lineEndAt === -1) return -1;
    if (state === "chunk-size") {
      missingBytes = Number.parseInt(bytes.toString("latin1", at, lineEndAt), 16);
      state = missingBytes === 0 ? "trailer" : "chunk";
    } else if (state === "chunk-end") state = "chunk-size";
    else if (lineEndAt === at) state = end();
    return lineEndAt + 2 - at;
  };

  const readHead = (bytes: Buffer, at: number): number => {
    const endAt = bytes.indexOf(headEnd, at);
    if (endAt === -1) return -1;
    const head = bytes.toString("latin1", at, endAt);
    listener.onHead(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) missingBytes = Number(length);
    // A 304 has no body, but its Content-Length may state the length of the 200 response (RFC 9110, section 8.6).
    if (head.startsWith("HTTP/1.1 304")) {
      state = end();
      return endAt + 4 - at;
    }
    const chunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head);
    if (chunked) state = "chunk-size";
    else state = length === undefined || missingBytes === 0 ? end() : "body";
    return endAt + 4 - at;
  };

  const readBody = (bytes: Buffer, at: number): number => {
    const used = Math.min(missingBytes, bytes.length - at);
    listener.onBody(bytes.subarray(at, at + used));
    missingBytes -= used;
    if (missingBytes === 0) state = state === "body" ? end() : "chunk-end";
    return used;
  };

  return (arrived) => {
    const bytes: Buffer = rest.length === 0 ? arrived : Buffer.concat([rest, arrived]);
    let at = 0;
    while (at < bytes.length) {
      const used = step(bytes, at);
      if (used === -1) break;
      at += used;
    }
    rest = bytes.subarray(at);
  };
}
