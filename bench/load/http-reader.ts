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
 * Reads HTTP/1.1 requests or responses from a connection's bytes. A body has the length of its Content-Length or the chunked transfer coding; a
 * message with neither has no body. Not supported, because no peer in the benchmark sends them: responses to HEAD, 1xx responses, and bodies
 * that end with the connection. Nothing is validated: all peers send well-formed messages, and the reader's CPU time must be low.
 * @returns a function to be called with each piece that the socket receives; it calls the listener before it returns.
 */
export function createHttpReader(listener: HttpMessageListener): (bytes: Buffer) => void {
  type State = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailer";
  let state: State = "head";
  let rest: Buffer = Buffer.alloc(0);
  /** Of the body or of the current chunk. */
  let missingBytes = 0;

  const finishMessage = (): void => {
    listener.onEnd();
    state = "head";
  };

  /** Returns the number of bytes consumed, or -1 if more bytes are needed. */
  const step = (bytes: Buffer, from: number): number => {
    if (state === "head") return readHead(bytes, from);
    if (state === "body" || state === "chunk") return readBody(bytes, from);
    const to = bytes.indexOf(lineEnd, from);
    if (to === -1) return -1;
    readLine(bytes, from, to, state);
    return to + lineEnd.length - from;
  };

  const readLine = (
    bytes: Buffer,
    from: number,
    to: number,
    lineState: "chunk-size" | "chunk-end" | "trailer",
  ): void => {
    switch (lineState) {
      case "chunk-size":
        missingBytes = Number.parseInt(bytes.toString("latin1", from, to), 16);
        state = missingBytes === 0 ? "trailer" : "chunk";
        return;
      // The line end after the bytes of a chunk.
      case "chunk-end":
        state = "chunk-size";
        return;
      // Trailer fields are ignored; an empty line ends the message.
      case "trailer":
        if (to === from) finishMessage();
    }
  };

  const readHead = (bytes: Buffer, from: number): number => {
    const to = bytes.indexOf(headEnd, from);
    if (to === -1) return -1;
    const head = bytes.toString("latin1", from, to);
    listener.onHead(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    // A 304 has no body, but its Content-Length may state the length of the 200 response (RFC 9110, section 8.6).
    const mayHaveBody = !head.startsWith("HTTP/1.1 304");
    missingBytes = mayHaveBody ? Number(length ?? 0) : 0;
    if (missingBytes > 0) state = "body";
    else if (mayHaveBody && length === undefined && isChunked(head)) state = "chunk-size";
    else finishMessage();
    return to + headEnd.length - from;
  };

  const readBody = (bytes: Buffer, from: number): number => {
    const used = Math.min(missingBytes, bytes.length - from);
    listener.onBody(bytes.subarray(from, from + used));
    missingBytes -= used;
    if (missingBytes === 0) {
      if (state === "body") finishMessage();
      else state = "chunk-end";
    }
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

function isChunked(head: string): boolean {
  return /\r\ntransfer-encoding: *chunked/i.test(head);
}
