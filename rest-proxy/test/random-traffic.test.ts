import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { route, startProxy, startStub, type StubAnswer } from "./testing.ts";

const requestsCount = 1_500;
const clientsCount = 16;

test.each([1, 2])(
  "in traffic of all kinds nobody gets what is older than a write that was answered, somebody else's, or torn (seed %i)",
  async (seed) => {
    const random = createRandom(seed);
    const acknowledged = new Map<string, number>();
    const stub = await startStub(createNotes(random));
    // So small that answers are evicted all the time.
    const cacheLimits = { bytesMax: 60_000, entryBytesMax: 20_000, entriesMax: 20, variantsMax: 3, backgroundMax: 4 };
    const { url, observed } = await startProxy(stub, { routes, cacheLimits });
    const faults: string[] = [];
    const statuses = new Set<string>();

    const askOnce = async () => {
      const asked = createAsked(random, acknowledged);
      const answer = await send(url, asked, random);
      if (!answer) return;
      const { status, headers, body } = answer;
      statuses.add(`${status} ${String(headers["cache-status"]).replace(/; (?:ttl|fwd-status)=-?\d+/g, "")}`);
      const isWritten = asked.method === "PATCH" && status === 200;
      if (isWritten) acknowledged.set(asked.id, Math.max(asked.known, readNote(body).count));
      const fault = asked.method === "PATCH" ? undefined : findFault(asked, answer);
      if (fault) faults.push(`${fault}: ${JSON.stringify({ asked, status, headers })}`);
    };
    let begun = 0;
    const askOn = async () => {
      while (begun++ < requestsCount) await askOnce();
    };
    await Promise.all(Array.from({ length: clientsCount }, askOn));

    expect(faults).toEqual([]);
    expect(observed.filter(({ kind }) => kind === "bug")).toEqual([]);
    // It was traffic of all kinds.
    expect([...statuses]).toEqual(expect.arrayContaining(["200 tributary; hit", "304 tributary; hit"]));
    expect([...statuses].some((one) => one.includes("collapsed"))).toBe(true);
  },
);

const routes = ["notes", "secrets"].flatMap((name) => [
  route(`get-${name}`, "GET", `/${name}/:id`, { versions: [1, 2], cache: name === "notes" ? "public" : "private" }),
  route(`change-${name}`, "PATCH", `/${name}/:id`, { versions: [1, 2] }),
]);

interface Note {
  readonly id: string;
  /** How often it was changed. */
  readonly count: number;
  readonly version: string;
  /** Whose view it is. */
  readonly user: string;
}

interface Asked extends Pick<Note, "id" | "user" | "version"> {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Changes that were answered before it was sent. */
  readonly known: number;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Random = ReturnType<typeof createRandom>;

/** Notes are for everybody; of secrets each user sees another view. Changed by PATCH; answers take their time, and some break off. */
function createNotes({ next, pick }: Random): StubAnswer {
  const counts = new Map<string, number>();
  return ({ method, url, headers }, response) => {
    const [, , version = "", name, id = ""] = url.split("/");
    const user = headers.authorization ?? "nobody";
    const count = (counts.get(id) ?? 0) + (method === "PATCH" ? 1 : 0);
    counts.set(id, count);
    const isSecret = name === "secrets";
    const note: Note = { id, count, version, user: isSecret ? user : "all" };
    const etag = `"${count}-${version}${isSecret ? `-${user.length}` : ""}"`;
    const bytes = Buffer.from(JSON.stringify({ ...note, filling: "x".repeat(Number(id) % 2 ? 2_000 : 0) }));
    response.setHeader("ETag", etag).setHeader("Cache-Groups", `"note-${id}"`);
    response.setHeader("Cache-Control", user === "nobody" || !isSecret ? "public, s-maxage=5" : "private, no-cache");
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

function createAsked({ next, pick }: Random, acknowledged: ReadonlyMap<string, number>): Asked {
  const id = String(Math.floor(next() * 6));
  const known = acknowledged.get(id) ?? 0;
  const prefix = pick(["/v1", "/v2", ""]);
  const user = pick(["nobody", "nobody", "Bearer a", "Bearer bb"]);
  const method = next() < 0.1 ? "PATCH" : pick(["GET", "GET", "GET", "HEAD"]);
  const coding = pick([undefined, "br", "gzip"]);
  const tag = pick([undefined, undefined, `"${known}-v1"`, `W/"${known}-v1"`, `"${known}-v2-br"`, '"other"']);
  const headers = {
    ...(user === "nobody" ? {} : { authorization: user }),
    ...(coding && { "accept-encoding": coding }),
    ...(method === "PATCH" ? { "content-length": "0" } : tag && { "if-none-match": tag }),
    ...(method === "GET" && next() < 0.05 && { range: "bytes=0-3" }),
    ...(next() < 0.2 && { "cache-control": "no-cache" }),
  };
  const path = `${prefix}/${pick(["notes", "notes", "secrets"])}/${id}`;
  return { method, path, headers, id, known, user, version: prefix === "/v1" ? "v1" : "v2" };
}

/** Undefined when the client has left before the answer was there, as some do, or when the service broke off. */
async function send(url: string, { method, path, headers }: Asked, { next }: Random): Promise<Answer | undefined> {
  const outgoing = request(url + path, { method, headers, agent: false });
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

function findFault(asked: Asked, { status, headers, body }: Answer): string | undefined {
  const { etag = "", "content-encoding": coding, "content-length": length } = headers;
  if (status !== 200 && status !== 304) return "another status";
  const count = Number(/^"(\d+)-/.exec(etag)?.[1]);
  if (!(count >= asked.known)) return `older than change ${asked.known}`;
  if (status === 304) return asked.headers["if-none-match"] === undefined ? "304 that nobody asked for" : undefined;
  if (coding !== undefined && coding !== asked.headers["accept-encoding"]) return "packed as nobody asked";
  if ((coding !== undefined) !== /-(?:br|gzip)"$/.test(etag)) return "a tag of another packing";
  if (asked.method === "HEAD") return body.length > 0 ? "a body for HEAD" : undefined;
  if (length !== undefined && Number(length) !== body.length) return "another length than was said";
  const note = readNote(coding === "br" ? brotliDecompressSync(body) : coding === "gzip" ? gunzipSync(body) : body);
  const isSecret = asked.path.includes("/secrets/");
  const { id, version } = asked;
  const expected = { id, version, count, user: isSecret ? asked.user : "all" };
  const isRight = Object.entries(expected).every(([name, value]) => note[name as keyof Note] === value);
  return isRight ? undefined : `another body: ${JSON.stringify({ ...note, filling: undefined })}`;
}

function readNote(body: Buffer): Note {
  return JSON.parse(body.toString()) as Note;
}

/** The same for the same seed; what comes of it depends on time as well. */
function createRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(next() * choices.length)] as T;
  return { next, pick };
}
