import type { IncomingHttpHeaders } from "node:http";

/** A request of the plainest form: what it says, and how long it is, hang on nothing but its bytes. It may stand for several: nobody changes it. */
export interface PlainRequest {
  readonly method: string;
  /** The target as it was sent; begins with a slash. */
  readonly url: string;
  /** By name in lower case. No name stands twice in such a request. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Of head and body together, from the first byte on. */
  readonly bytes: number;
}

/** A head that is longer is not a plain one. */
const headBytesMax = 8_192;

/**
 * A part of what RFC 9112 permits: one space where it has one, lines that end as they should, no folded line, nothing that is no text. Every such
 * head is one for Node's parser too, and ends for it at the same byte.
 */
const headPattern =
  /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/[\x21-\x7e]*) HTTP\/1\.1\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)+\r\n/;

/** Fields that change where a message ends, what becomes of its connection, or how Node hands them on. */
const unplain: ReadonlySet<string> = new Set([
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A head with more is not a plain one; Node refuses those of a thousand. */
const fieldsMax = 100;

/** So many heads are remembered, of so many bytes at most: at the worst some 8 MB. */
const memoMax = 1_024;
const memoBytesMax = 1_024;

/**
 * Reads requests by their bytes, and remembers the last thousand of `GET`: whoever keeps a connection open says the same head again
 * and again. Finding it takes a fifth of reading it.
 */
export function createPlainReader(): (chunk: Buffer) => PlainRequest | undefined {
  const memo = new Map<string, PlainRequest>();

  return (chunk) => {
    const text = chunk.toString("latin1", 0, headBytesMax);
    const known = memo.get(text);
    if (known) return known;
    const request = readPlainRequest(chunk, text);
    if (!request || !isMemorable(request, text)) return request;
    const [oldest] = memo.size >= memoMax ? memo.keys() : [];
    if (oldest !== undefined) memo.delete(oldest);
    memo.set(text, request);
    return request;
  };
}

/** No body is kept, and none of the fields that are there to say who one is. */
function isMemorable({ method, headers, bytes }: PlainRequest, text: string): boolean {
  if (method !== "GET" || bytes !== text.length || bytes > memoBytesMax) return false;
  return [headers["content-length"], headers.authorization, headers.cookie].every((value) => value === undefined);
}

/** The request that a chunk begins with, whose text is at hand; undefined for one that is not plain, or whose head is not all there. */
function readPlainRequest(chunk: Buffer, text: string): PlainRequest | undefined {
  const [head, method, target] = headPattern.exec(text) ?? [];
  if (head === undefined || method === undefined || target === undefined) return undefined;
  const from = method.length + " ".length;
  const url = cut(chunk, from, from + target.length);
  const headers = readFields(chunk, head, from + target.length + " HTTP/1.1\r\n".length);
  if (!headers) return undefined;
  const { host, connection, "content-length": length = "0" } = headers;
  if (host === undefined) return undefined;
  if (connection !== undefined && connection.toLowerCase() !== "keep-alive") return undefined;
  return /^\d{1,9}$/.test(length) ? { method, url, headers, bytes: head.length + Number(length) } : undefined;
}

/** The fields of a head that the pattern has let through, from the place of the first. Undefined when they are not plain ones. */
function readFields(chunk: Buffer, head: string, from: number): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  const end = head.length - "\r\n".length;
  let fields = 0;
  for (let at = from; at < end;) {
    if (++fields > fieldsMax) return undefined;
    const colon = head.indexOf(":", at);
    const stop = head.indexOf("\r", colon);
    const name = toFieldName(head.slice(at, colon));
    // Twice: some are joined, of some the first counts, and some are an error.
    if (headers[name] !== undefined || unplain.has(name)) return undefined;
    headers[name] = trimmed(chunk, colon + 1, stop);
    at = stop + "\r\n".length;
  }
  return headers;
}

/** Without the spaces and tabs around it (RFC 9112, 5.1); what else counts as space for `trim` belongs to the value. */
function trimmed(chunk: Buffer, start: number, stop: number): string {
  let [from, to] = [start, stop];
  while (from < to && isBlank(chunk[from])) from++;
  while (to > from && isBlank(chunk[to - 1])) to--;
  return cut(chunk, from, to);
}

/** A text of its own. A slice of the head's would keep all of the head for as long as somebody remembers the value. */
function cut(chunk: Buffer, from: number, to: number): string {
  return chunk.toString("latin1", from, to);
}

function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09;
}

/** Spellings that are remembered: of a name that was met before there is no second text. */
const spellingsMax = 512;
const spellings = new Map<string, string>();

function toFieldName(spelled: string): string {
  const known = spellings.get(spelled);
  if (known !== undefined) return known;
  if (spellings.size >= spellingsMax || spelled.length > 64) return spelled.toLowerCase();
  // Again a text of its own.
  const kept = Buffer.from(spelled, "latin1").toString("latin1");
  const name = kept.toLowerCase();
  spellings.set(kept, name);
  return name;
}
