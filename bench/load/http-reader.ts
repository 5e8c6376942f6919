/** What is heard of each message on one connection, in order. */
export interface HttpListener {
  /** Start line and headers, as they came. */
  onHead(head: string): void;
  /** A piece of the body; a view of the socket's bytes. */
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

const headEnd = Buffer.from("\r\n\r\n");
const lineEnd = Buffer.from("\r\n");

/**
 * Reads HTTP/1.1 messages from a connection's bytes: bodies by Content-Length or in chunks. For both sides of the
 * benchmark, where messages are well formed; as little work per message as it takes.
 */
export function createHttpReader(listener: HttpListener): (bytes: Buffer) => void {
  type State = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailer";
  let state: State = "head";
  let rest: Buffer = Buffer.alloc(0);
  let missingBytes = 0;

  const end = (): State => {
    listener.onEnd();
    return "head";
  };

  /** Takes one step; returns how many bytes it used, or -1 when it needs more. */
  const step = (bytes: Buffer, at: number): number => {
    if (state === "head") return readHead(bytes, at);
    if (state === "body" || state === "chunk") return readBody(bytes, at);
    const lineAt = bytes.indexOf(lineEnd, at);
    if (lineAt === -1) return -1;
    if (state === "chunk-size") {
      missingBytes = Number.parseInt(bytes.toString("latin1", at, lineAt), 16);
      state = missingBytes === 0 ? "trailer" : "chunk";
    } else if (state === "chunk-end") state = "chunk-size";
    else if (lineAt === at) state = end();
    return lineAt + 2 - at;
  };

  const readHead = (bytes: Buffer, at: number): number => {
    const endAt = bytes.indexOf(headEnd, at);
    if (endAt === -1) return -1;
    const head = bytes.toString("latin1", at, endAt);
    listener.onHead(head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) missingBytes = Number(length);
    // A 304 may say how long the answer would have been (RFC 9110, 15.4.5).
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
