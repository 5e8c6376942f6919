import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { connect } from "node:net";

/** A request as bytes, so that names, order and values of its headers are the client's. */
export interface RawRequest {
  /** `POST /graphql HTTP/1.1` */
  readonly line: string;
  /** Names and values in turn, without those that say how the body is sent. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly isChunked?: boolean;
}

/** A gateway's port, and which lane its last request took. */
export interface Lane {
  readonly port: number;
  tookFastLane(): boolean;
}

export interface Comparison {
  readonly request: RawRequest;
  /** Answers as bytes, without what differs between any two: ids, span, date and timings. */
  readonly full: string;
  /** The gateway with a fast lane, twice: the first time it may not know the operation yet. */
  readonly cold: string;
  readonly warm: string;
  /** Whether the second answer came by the fast lane. */
  readonly isFast: boolean;
}

/** Asks both gateways the same. `reset` undoes what the request has changed. */
export async function compareLanes(
  request: RawRequest,
  lanes: { readonly full: Lane; readonly fast: Lane },
  reset: () => void = () => undefined,
): Promise<Comparison> {
  const ask = (port: number) => (reset(), exchange(port, request));
  const full = await ask(lanes.full.port);
  const cold = await ask(lanes.fast.port);
  const warm = await ask(lanes.fast.port);
  return { request, full, cold, warm, isFast: lanes.fast.tookFastLane() };
}

export function isEqual({ full, cold, warm }: Comparison): boolean {
  return full === cold && full === warm;
}

/** Tells which lane a gateway's requests take: only Express puts `locals` on a response. */
export function watchLane(handler: RequestListener): { handler: RequestListener; tookFastLane(): boolean } {
  let last: ServerResponse | undefined;
  return {
    handler(request, response) {
      last = response;
      handler(request, response);
    },
    tookFastLane: () => last !== undefined && !("locals" in last),
  };
}

/** Hands each request on as it comes, and its copy to `copied`; the answer is held back until that is done with it. */
export function copyRequests(
  handler: RequestListener,
  copied: (request: RawRequest) => Promise<void>,
): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    const read = Promise.race([once(request, "end"), once(request, "close")]).catch(() => undefined);
    const end = response.end.bind(response) as (...all: unknown[]) => ServerResponse;
    response.end = ((...all: unknown[]) => {
      const copy = async () => {
        if (request.method === "POST") await read;
        await copied(readRaw(request, Buffer.concat(chunks)));
      };
      void copy().finally(() => end(...all));
      return response;
    }) as ServerResponse["end"];
    handler(request, response);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
  };
}

/** The marker of copies: subgraphs of the tests do not record what is asked on their account. */
const copyTraceId = "c0b1e".padStart(32, "0");

export function isCopy({ traceparent }: IncomingMessage["headers"]): boolean {
  return typeof traceparent === "string" && traceparent.includes(copyTraceId);
}

const framing = new Set(["content-length", "transfer-encoding", "connection", "expect", "traceparent"]);

function readRaw({ method, url, httpVersion, rawHeaders, headers }: IncomingMessage, body: Buffer): RawRequest {
  const kept = rawHeaders.filter((_, i) => !framing.has((rawHeaders[i - (i % 2)] ?? "").toLowerCase()));
  const isChunked = headers["transfer-encoding"] !== undefined;
  const traceparent = `00-${copyTraceId}-${"1".repeat(16)}-00`;
  return {
    line: `${method} ${url} HTTP/${httpVersion}`,
    headers: [...kept, "traceparent", traceparent],
    body,
    isChunked,
  };
}

/** @returns all that comes back until the gateway closes, one character for each byte. */
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

function withoutIds(answer: string): string {
  return answer.replace(/^(X-Request-Id|traceparent|Date|Server-Timing): .*$/gm, "$1: *");
}
