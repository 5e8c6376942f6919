import type { IncomingMessage } from "node:http";
import type { IncompleteRequests } from "./incomplete-requests.ts";

export interface ReceiveBodyOptions {
  readonly bytesMax: number;
  readonly incompleteRequests: IncompleteRequests;
}

/** `cut`: the process needs the memory for other clients. Respond with 408, and close the connection. */
export type BodyFailure = "too-large" | "disconnected" | "cut";

/** By a callback instead of a promise, so that a body that is complete with the first read is processed in the same iteration. */
export function receiveBody(
  request: IncomingMessage,
  { bytesMax, incompleteRequests }: ReceiveBodyOptions,
  done: (received: Buffer | BodyFailure) => void,
): void {
  /** With the second chunk, a buffer that grows by factors: a body in chunks of one byte takes no object for each. */
  let buffer: Buffer = Buffer.of();
  let bytes = 0;
  const bytesExpected = Number(request.headers["content-length"] ?? bytesMax);

  const finish = (received: Buffer | BodyFailure) => {
    incompleteRequests.end(incomplete);
    request.off("data", onData).off("end", onEnd).off("close", onClose);
    done(received);
  };
  const onData = (chunk: Buffer) => {
    if (bytes + chunk.length > bytesMax) return finish("too-large");
    const isFirst = bytes === 0;
    buffer = isFirst ? chunk : append(buffer, bytes, chunk, bytesExpected);
    bytes += chunk.length;
    incompleteRequests.receive(incomplete, chunk.length);
    // Unless the body may end in this iteration of the event loop.
    if (!isFirst && !incomplete.isEnded) resumeLater(request);
  };
  const onEnd = () => finish(bytes === buffer.length ? buffer : buffer.subarray(0, bytes));
  const onClose = () => finish("disconnected");
  const incomplete = incompleteRequests.begin(request, () => finish("cut"));
  // Of a request, Node emits `error` only to listeners; `close` follows it.
  request.on("data", onData).on("end", onEnd).on("close", onClose);
}

/** By four, since each outgrown buffer waits for a garbage collection, and V8 collects more often for memory outside of its heap. */
const growth = 4;

function append(buffer: Buffer, bytes: number, chunk: Buffer, bytesExpected: number): Buffer {
  const bytesNeeded = bytes + chunk.length;
  const isTooSmall = bytesNeeded > buffer.length;
  const size = Math.max(bytesNeeded, Math.min(growth * bytesNeeded, bytesExpected));
  const target = isTooSmall ? Buffer.allocUnsafeSlow(size) : buffer;
  if (isTooSmall) buffer.copy(target, 0, 0, bytes);
  chunk.copy(target, bytes);
  return target;
}

/** Unlike `buffer` of node:stream/consumers, without a Blob for each chunk: most garbage collections were for that memory. */
export async function collectBody(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
  createError = () => new Error(`The body has more than ${bytesMax} bytes`),
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw createError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** 64 KB at once, so 3 MB/s of each connection: a client over its rate limit that sends large bodies would take more CPU time by these. */
const discardEveryMs = 20;

/** Reads the rest of a body, at most `bytesMax`, so that its client can read the response: closing a connection with unread bytes resets it. */
export function discardBody(request: IncomingMessage, bytesMax: number): void {
  let bytes = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) return void request.destroy();
    request.pause();
    setTimeout(() => request.resume(), discardEveryMs);
  });
  request.resume();
  // Marks the body as being read: Node would discard the rest without a bound if the response ended before the first chunk.
  request.read(0);
}

/** Without this pause, one iteration of the event loop reads up to 2 MB of each connection (libuv: 32 chunks of 64 KB). */
function resumeLater(request: IncomingMessage): void {
  request.pause();
  setImmediate(() => request.resume());
}
