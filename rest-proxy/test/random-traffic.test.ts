import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { route, startProxy, startStub, type StubResponder } from "./testing.ts";

const requestsCount = 1_000;
const clientsCount = 16;

test("under random traffic no client gets a response older than an acknowledged write, of another user, or truncated", async () => {
  const random = createRandom(1);
  const acknowledged = new Map<string, number>();
  const stub = await startStub(createNotes(random));
  // So small that entries are evicted all the time.
  const cacheLimits = { bytesMax: 60_000, entryBytesMax: 20_000, entriesMax: 20, variantsMax: 3, backgroundMax: 4 };
  const { url, observed } = await startProxy(stub, { routes, cacheLimits });
  const faults: string[] = [];
  const statuses = new Set<string>();

  const sendOnce = async () => {
    const request = createTestRequest(random, acknowledged);
    const response = await send(url, request, random);
    if (!response) return;
    const { status, headers, body } = response;
    statuses.add(`${status} ${String(headers["cache-status"]).replace(/; (?:ttl|fwd-status)=-?\d+/g, "")}`);
    const isWritten = request.method === "PATCH" && status === 200;
    if (isWritten) acknowledged.set(request.id, Math.max(request.known, readNote(body).count));
    const fault = request.method === "PATCH" ? undefined : findFault(request, response);
    if (fault) faults.push(`${fault}: ${JSON.stringify({ request, status, headers })}`);
  };
  let started = 0;
  const sendMany = async () => {
    while (started++ < requestsCount) await sendOnce();
  };
  await Promise.all(Array.from({ length: clientsCount }, sendMany));
  const hasCollapsed = () => [...statuses].some((status) => status.includes("collapsed"));
  // On a busy machine equal requests are seldom in flight at once.
  for (let round = 0; round < 100 && !hasCollapsed(); round++)
    await Promise.all(Array.from({ length: clientsCount }, sendOnce));

  expect(faults).toEqual([]);
  expect(observed.filter(({ kind }) => kind === "bug")).toEqual([]);
  // The traffic contained hits, 304s and coalesced requests.
  expect([...statuses]).toEqual(expect.arrayContaining(["200 tributary; hit", "304 tributary; hit"]));
  expect(hasCollapsed()).toBe(true);
});

const routes = ["notes", "secrets"].flatMap((name) => [
  route(`get-${name}`, "GET", `/${name}/:id`, { versions: [1, 2], cache: name === "notes" ? "public" : "private" }),
  route(`change-${name}`, "PATCH", `/${name}/:id`, { versions: [1, 2] }),
]);

interface Note {
  readonly id: string;
  /** How often it was changed. */
  readonly count: number;
  readonly version: string;
  /** The user of this representation. */
  readonly user: string;
}

interface TestRequest extends Pick<Note, "id" | "user" | "version"> {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Changes that were acknowledged before it was sent. */
  readonly known: number;
}

interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Random = ReturnType<typeof createRandom>;

/** Notes are public; each user gets another representation of a secret. PATCH changes them; responses are delayed, and some are truncated. */
function createNotes({ next, pick }: Random): StubResponder {
  const counts = new Map<string, number>();
  return ({ method, url, headers }, response) => {
    const [, , version = "", name, id = ""] = url.split("/");
    const user = headers.authorization ?? "public";
    const count = (counts.get(id) ?? 0) + (method === "PATCH" ? 1 : 0);
    counts.set(id, count);
    const isSecret = name === "secrets";
    const note: Note = { id, count, version, user: isSecret ? user : "all" };
    const etag = `"${count}-${version}${isSecret ? `-${user.length}` : ""}"`;
    const bytes = Buffer.from(JSON.stringify({ ...note, filling: "x".repeat(Number(id) % 2 ? 2_000 : 0) }));
    response.setHeader("ETag", etag).setHeader("Cache-Groups", `"note-${id}"`);
    response.setHeader("Cache-Control", user === "public" || !isSecret ? "public, s-maxage=5" : "private, no-cache");
    if (isSecret) response.setHeader("Vary", "Authorization");
    if (!isSecret) response.setHeader("CDN-Cache-Control", pick(["max-age=0", "max-age=1", "max-age=5"]));
    if (method === "PATCH") response.setHeader("Cache-Group-Invalidation", `"note-${id}"`).removeHeader("Cache-Groups");
    else if (headers["if-none-match"]?.includes(etag)) response.statusCode = 304;
    else if (next() < 0.5) response.setHeader("Content-Length", bytes.length);
    const isBroken = method !== "PATCH" && next() < 0.01;
    const isEmpty = method === "HEAD" || response.statusCode === 304;
    setTimeout(() => (isBroken ? response.destroy() : response.end(isEmpty ? undefined : bytes)), next() * 8);
  };
}

function createTestRequest({ next, pick }: Random, acknowledged: ReadonlyMap<string, number>): TestRequest {
  const id = String(Math.floor(next() * 6));
  const known = acknowledged.get(id) ?? 0;
  const prefix = pick(["/v1", "/v2", ""]);
  const user = pick(["public", "public", "Bearer a", "Bearer bb"]);
  const method = next() < 0.1 ? "PATCH" : pick(["GET", "GET", "GET", "HEAD"]);
  const coding = pick([undefined, "br", "gzip", "zstd"]);
  const tag = pick([undefined, undefined, `"${known}-v1"`, `W/"${known}-v1"`, `"${known}-v2-br"`, '"other"']);
  const headers = {
    ...(user === "public" ? {} : { authorization: user }),
    ...(coding && { "accept-encoding": coding }),
    ...(method === "PATCH" ? { "content-length": "0" } : tag && { "if-none-match": tag }),
    ...(method === "GET" && next() < 0.05 && { range: "bytes=0-3" }),
    ...(next() < 0.2 && { "cache-control": "no-cache" }),
  };
  const path = `${prefix}/${pick(["notes", "notes", "secrets"])}/${id}`;
  return { method, path, headers, id, known, user, version: prefix === "/v1" ? "v1" : "v2" };
}

/** Undefined if the client disconnected before the response, as some do, or if the response was truncated. */
async function send(
  url: string,
  { method, path, headers }: TestRequest,
  { next }: Random,
): Promise<TestResponse | undefined> {
  const outgoing = sendRequest(url + path, { method, headers, agent: false });
  if (method !== "PATCH" && next() < 0.05) setTimeout(() => outgoing.destroy(), next() * 6);
  outgoing.end();
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve).once("error", reject);
    });
    const body = await buffer(incoming);
    const { statusCode: status = 0 } = incoming;
    return status === 502 ? undefined : { status, headers: incoming.headers, body };
  } catch {
    return undefined;
  }
}

const decompressors = new Map<string | undefined, (body: Buffer) => Buffer>([
  ["br", brotliDecompressSync],
  ["gzip", gunzipSync],
  ["zstd", zstdDecompressSync],
]);

function findFault(request: TestRequest, { status, headers, body }: TestResponse): string | undefined {
  const { etag = "", "content-encoding": coding, "content-length": length } = headers;
  if (status !== 200 && status !== 304) return "another status";
  const count = Number(/^"(\d+)-/.exec(etag)?.[1]);
  if (!(count >= request.known)) return `older than change ${request.known}`;
  if (status === 304) return request.headers["if-none-match"] === undefined ? "304 without a condition" : undefined;
  if (coding !== undefined && coding !== request.headers["accept-encoding"]) return "a coding that was not requested";
  if ((coding !== undefined) !== /-(?:br|gzip|zstd)"$/.test(etag)) return "an ETag of another coding";
  if (request.method === "HEAD") return body.length > 0 ? "a body for HEAD" : undefined;
  if (length !== undefined && Number(length) !== body.length) return "another length than Content-Length";
  const note = readNote(decompressors.get(coding)?.(body) ?? body);
  const isSecret = request.path.includes("/secrets/");
  const { id, version } = request;
  const expected = { id, version, count, user: isSecret ? request.user : "all" };
  const isRight = Object.entries(expected).every(([name, value]) => note[name as keyof Note] === value);
  return isRight ? undefined : `another body: ${JSON.stringify({ ...note, filling: undefined })}`;
}

function readNote(body: Buffer): Note {
  return JSON.parse(body.toString()) as Note;
}

/** The same numbers for the same seed. The order of the responses depends on time as well. */
function createRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(next() * choices.length)] as T;
  return { next, pick };
}
