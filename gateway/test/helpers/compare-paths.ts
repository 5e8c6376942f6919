import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { connect } from "node:net";

/** A request that is sent as bytes, so that the names, order and values of its headers are unchanged. */
export interface RawRequest {
  /** `POST /graphql HTTP/1.1` */
  readonly line: string;
  /** A raw list (name, value, name, value) without the headers for the transfer of the body. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly isChunked?: boolean;
}

/** A gateway, and whether its last request took the fast path. */
export interface PathGateway {
  readonly port: number;
  tookFastPath(): boolean;
}

export interface Comparison {
  readonly request: RawRequest;
  /** The response of the gateway without a fast path, as bytes, without request id, span, date, timings and receipt. */
  readonly full: string;
  /** The first response of the gateway with a fast path, which may not know the operation yet. */
  readonly cold: string;
  readonly warm: string;
  /** Whether the second request took the fast path. */
  readonly isFast: boolean;
}

/** Sends the request to both gateways. `reset` undoes the changes of one request. */
export async function sendToBoth(
  request: RawRequest,
  gateways: { readonly full: PathGateway; readonly fast: PathGateway },
  reset: () => void = () => undefined,
): Promise<Comparison> {
  const send = (port: number) => (reset(), exchange(port, request));
  const full = await send(gateways.full.port);
  const cold = await send(gateways.fast.port);
  const warm = await send(gateways.fast.port);
  return { request, full, cold, warm, isFast: gateways.fast.tookFastPath() };
}

export function isEqual({ full, cold, warm }: Comparison): boolean {
  return full === cold && full === warm;
}

/** Records which path the last request took: only Express sets `locals` on a response. */
export function recordPath(handler: RequestListener): { handler: RequestListener; tookFastPath(): boolean } {
  let last: ServerResponse | undefined;
  return {
    handler(request, response) {
      last = response;
      handler(request, response);
    },
    tookFastPath: () => last !== undefined && !("locals" in last),
  };
}

/** Forwards each request to `handler`, and a copy to `onCopy`. The response is sent when `onCopy` is done. */
export function mirrorRequests(
  handler: RequestListener,
  onCopy: (request: RawRequest) => Promise<void>,
): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    const read = Promise.race([once(request, "end"), once(request, "close")]).catch(() => undefined);
    const end = response.end.bind(response) as (...all: unknown[]) => ServerResponse;
    response.end = ((...all: unknown[]) => {
      const copy = async () => {
        if (request.method === "POST") await read;
        await onCopy(readRaw(request, Buffer.concat(chunks)));
      };
      void copy().finally(() => end(...all));
      return response;
    }) as ServerResponse["end"];
    handler(request, response);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
  };
}

/** Marks copies: the subgraphs of the tests do not record requests for them. */
const copyTraceId = "c0b1e".padStart(32, "0");

export function isMirrored({ traceparent }: IncomingMessage["headers"]): boolean {
  return typeof traceparent === "string" && traceparent.includes(copyTraceId);
}

const framing = new Set(["content-length", "transfer-encoding", "connection", "expect", "traceparent"]);

function readRaw({ method, url, httpVersion, rawHeaders, headers }: IncomingMessage, body: Buffer): RawRequest {
  const copiedHeaders = rawHeaders.filter((_, i) => !framing.has((rawHeaders[i - (i % 2)] ?? "").toLowerCase()));
  const isChunked = headers["transfer-encoding"] !== undefined;
  const traceparent = `00-${copyTraceId}-${"1".repeat(16)}-00`;
  return {
    line: `${method} ${url} HTTP/${httpVersion}`,
    headers: [...copiedHeaders, "traceparent", traceparent],
    body,
    isChunked,
  };
}

/** @returns the bytes up to the close of the connection, one character for each. */
function exchange(port: number, request: RawRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(toBytes(request)));
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("close", () => resolve(withoutIds(Buffer.concat(chunks).toString("latin1"))));
    socket.on("error", reject);
  });
}

function toBytes({ line, headers, body, isChunked = false }: RawRequest): Buffer {
  const length = isChunked ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(body.length)];
  const pairs = [...headers, ...(body.length > 0 || line.startsWith("POST") ? length : []), "Connection", "close"];
  const lines = pairs.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${pairs[i + 1]}`] : []));
  const head = Buffer.from(`${[line, ...lines].join("\r\n")}\r\n\r\n`, "latin1");
  return Buffer.concat([head, isChunked ? toChunks(body) : body]);
}

function toChunks(body: Buffer): Buffer {
  const last = Buffer.from("0\r\n\r\n");
  if (body.length === 0) return last;
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n"), last]);
}

/** Without request ids, times, and receipts, each of which is encrypted with another random value. */
function withoutIds(response: string): string {
  return response
    .replace(/^(X-Request-Id|traceparent|Date|Server-Timing|Consistency-Token): .*$/gm, "$1: *")
    .replace(/"consistencyToken":"(?:\\.|[^"\\])*"/, '"consistencyToken":"*"');
}
