// The load generator (connection.ts) reads responses with it, the backends (testbed/backend-process.ts) read requests.
/** Receives the messages of one connection, in order. */
export interface HttpMessageListener {
  /** @param head start line and header fields, without the empty line. */
  onHead(head: string): void;
  /** Called for each piece of the body. The buffer is a view of the socket's bytes. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

type State = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailer";

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");
const empty = Buffer.alloc(0);

/**
 * Reads HTTP/1.1 requests or responses from a connection's bytes. A body has the length of its Content-Length or the chunked transfer coding; a
 * message with neither has no body. Not supported, because no program in the benchmark sends them: responses to HEAD, 1xx responses, and bodies
 * that end with the connection. Nothing is validated: all programs send well-formed messages, and the reader's CPU time must be low.
 * @returns a function to be called with each piece that the socket receives; it calls the listener before it returns.
 */
export function createHttpReader(listener: HttpMessageListener): (bytes: Buffer) => void {
  let state: State = "head";
  let rest: Buffer = empty;
  /** Of the body or of the current chunk. */
  let missingBytes = 0;

  // Each of these four functions reports what it has read to the listener, and returns the next state.
  const end = (): State => {
    listener.onEnd();
    return "head";
  };
  const readHead = (head: string): State => {
    listener.onHead(head);
    // A 304 has no body, but its Content-Length may state the length of the 200 response (RFC 9110, section 8.6).
    if (head.startsWith("HTTP/1.1 304")) return end();
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    missingBytes = Number(length ?? 0);
    if (missingBytes > 0) return "body";
    return length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head) ? "chunk-size" : end();
  };
  const readLine = (line: string): State => {
    if (state === "chunk-end") return "chunk-size"; // The line end after the bytes of a chunk.
    if (state === "trailer") return line === "" ? end() : "trailer"; // Trailer fields are ignored.
    missingBytes = Number.parseInt(line, 16);
    return missingBytes === 0 ? "trailer" : "chunk";
  };
  const readBody = (bytes: Buffer): State => {
    listener.onBody(bytes);
    missingBytes -= bytes.length;
    if (missingBytes > 0) return state;
    return state === "body" ? end() : "chunk-end";
  };

  return (arrived) => {
    const bytes: Buffer = rest.length === 0 ? arrived : Buffer.concat([rest, arrived]);
    let at = 0;
    while (at < bytes.length) {
      if (state === "body" || state === "chunk") {
        const piece = bytes.subarray(at, at + missingBytes);
        state = readBody(piece);
        at += piece.length;
        continue;
      }
      const terminator = state === "head" ? headEnd : lineEnd;
      const to = bytes.indexOf(terminator, at);
      if (to === -1) break;
      const text = bytes.toString("latin1", at, to);
      state = state === "head" ? readHead(text) : readLine(text);
      at = to + terminator.length;
    }
    // A copy, because the caller may reuse its buffer.
    rest = at === bytes.length ? empty : Buffer.from(bytes.subarray(at));
  };
}
