// An HTTP/1.1 reader: for responses in the load generator (connection.ts), for requests in the backends (testbed/backend-process.ts).

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
const contentLength = /\r\ncontent-length: *(\d+)/i;
const chunkedCoding = /\r\ntransfer-encoding: *chunked/i;

/**
 * Reads HTTP/1.1 requests or responses from a connection's bytes. A body has the length of its Content-Length or the chunked transfer coding; a
 * message with neither has no body. Not supported, because no program in the benchmark sends them: responses to HEAD, 1xx responses, and bodies
 * that end with the connection. Nothing is validated: all programs send well-formed messages, and the reader's CPU time must be low.
 * @returns a function to be called with each piece that the socket receives; it calls the listener before it returns.
 */
export function createHttpReader(listener: HttpMessageListener): (bytes: Buffer) => void {
  let state: State = "head";
  /** The start of a head or line whose end has not arrived yet. */
  let incomplete: Buffer = empty;
  /** Of the body or of the current chunk. */
  let missingBytes = 0;

  // Each of these four functions reports what it has read to the listener, and returns the next state.
  const endMessage = (): State => {
    listener.onEnd();
    return "head";
  };
  const readHead = (head: string): State => {
    listener.onHead(head);
    // A 304 has no body, but its Content-Length may state the length of the 200 response (RFC 9110, section 8.6).
    if (head.startsWith("HTTP/1.1 304")) return endMessage();
    const length = contentLength.exec(head)?.[1];
    missingBytes = Number(length ?? 0);
    if (missingBytes > 0) return "body";
    const isChunked = length === undefined && chunkedCoding.test(head);
    return isChunked ? "chunk-size" : endMessage();
  };
  const readLine = (line: string): State => {
    if (state === "chunk-end") return "chunk-size"; // The line end after the bytes of a chunk.
    if (state === "trailer") return line === "" ? endMessage() : "trailer"; // Trailer fields are ignored.
    missingBytes = Number.parseInt(line, 16); // The line is a chunk size.
    return missingBytes === 0 ? "trailer" : "chunk";
  };
  const readBody = (bytes: Buffer): State => {
    listener.onBody(bytes);
    missingBytes -= bytes.length;
    if (missingBytes > 0) return state;
    return state === "body" ? endMessage() : "chunk-end";
  };

  return (arrived) => {
    const bytes: Buffer = incomplete.length === 0 ? arrived : Buffer.concat([incomplete, arrived]);
    let start = 0;
    while (start < bytes.length) {
      if (state === "body" || state === "chunk") {
        const piece = bytes.subarray(start, start + missingBytes);
        state = readBody(piece);
        start += piece.length;
        continue;
      }
      const terminator = state === "head" ? headEnd : lineEnd;
      const end = bytes.indexOf(terminator, start);
      if (end === -1) break;
      const text = bytes.toString("latin1", start, end);
      state = state === "head" ? readHead(text) : readLine(text);
      start = end + terminator.length;
    }
    // A copy, because the caller may reuse its buffer.
    incomplete = start === bytes.length ? empty : Buffer.from(bytes.subarray(start));
  };
}
