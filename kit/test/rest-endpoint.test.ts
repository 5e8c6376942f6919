import { createServer, type Server } from "node:http";
import { noDatabase } from "../src/testing/database.ts";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createCursors, nameList } from "../src/lists/cursor.ts";
import { AppError } from "../src/errors/app-error.ts";
import { createProjection, writeEtag } from "../src/http/etag.ts";
import type { ListPage, PageRequest } from "../src/lists/keyset.ts";
import { silentLog } from "../src/process/log.ts";
import { createRestEndpoint, type Handlers } from "../src/rest/rest-endpoint.ts";
import type { Audience } from "../src/rest/caching.ts";
import { createCaller, runForCaller } from "../src/postgres/waiting-caller.ts";
import { respondWithList } from "../src/rest/lists.ts";
import { respondToRead } from "../src/rest/conditional-read.ts";
import type { RouteDeclaration } from "../src/rest/routes.ts";
import { createRequestFailures } from "../src/telemetry/request-failures.ts";
import { etagOf } from "../src/testing/response-headers.ts";

const freshness = { browserSeconds: 2, sharedSeconds: 10, staleWhileRevalidateSeconds: 10, staleIfErrorSeconds: 60 };
const routes = [
  { id: "one", method: "GET", path: "/things/:id", versions: [1, 2], cache: "public", freshness, summary: "One" },
  { id: "change", method: "PATCH", path: "/things/:id", versions: [1, 2], cache: "none", summary: "Change one" },
  {
    id: "list",
    method: "GET",
    path: "/things",
    versions: [1, 2],
    query: ["limit", "cursor", "status"],
    cache: "public",
    freshness,
    privateWith: ["status"],
    summary: "Things",
  },
  { id: "own", method: "GET", path: "/own", versions: [1, 2], cache: "private", summary: "One's own" },
] as const satisfies readonly RouteDeclaration[];

interface Thing {
  readonly id: string;
  readonly rowVersion: string;
  readonly audience: Audience;
}

const reads: string[] = [];
const oldCursors = createCursors(["the key of last year"]);
const newCursors = createCursors(["the key of this year", "the key of last year"]);
let things: readonly Thing[] = [];
let cursors = oldCursors;
let revisions: readonly unknown[] = ["as it is"];
/** Called between the read of the version and that of the row. */
let meanwhile = () => {};

let server: Server;
let url: string;
beforeAll(async () => {
  const app = express();
  const authenticate = async (authorization: string | undefined) => {
    if (authorization === "bad") throw new AppError("UNAUTHENTICATED", "No.");
    return authorization === undefined
      ? ({ kind: "anonymous" } as const)
      : ({ kind: "user", userId: authorization, scopes: new Set<string>() } as const);
  };
  const failures = createRequestFailures({ service: "things", log: silentLog });
  app.use((request, response, next) => runForCaller(createCaller(request, response), next));
  for (const version of [1, 2]) {
    const options = { version, routes, handlers: handlersOf(version), authenticate, database: noDatabase, failures };
    app.use(`/rest/v${version}`, createRestEndpoint(options));
  }
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rest`;
});
afterAll(() => void server.close());

beforeEach(() => {
  reads.length = 0;
  things = [3, 2, 1].map((id) => ({ id: String(id), rowVersion: "7", audience: "everyone" }));
  cursors = oldCursors;
  revisions = ["as it is"];
  meanwhile = () => {};
});

test("a 304 needs only the version, and has the caching headers of the 200", async () => {
  const full = await get("/v1/things/1");
  expect([full.status, reads.splice(0)]).toEqual([200, ["load"]]);
  const known = await get("/v1/things/1", { "if-none-match": etagOf(full) });
  expect([known.status, await known.text(), reads]).toEqual([304, "", ["version"]]);
  for (const name of ["etag", "vary", "cache-control", "cdn-cache-control", "cache-groups", "last-modified"]) {
    expect([name, known.headers.get(name)]).toEqual([name, full.headers.get(name)]);
  }
  expect(known.headers.get("last-modified")).toBe("Thu, 01 Jan 2026 00:00:00 GMT");
  expect(known.headers.get("content-type")).toBeNull();
});

test("a request without conditions only loads the body; one whose condition fails reads the version before", async () => {
  await get("/v1/things/1");
  await get("/v1/things/1", { "if-none-match": '"6-v1.x-public"' });
  expect(reads).toEqual(["load", "version", "load"]);
});

test("a 404 to clients without a token may be shared by the REST proxy alone, until a change of its groups", async () => {
  for (const headers of [{}, { "if-none-match": '"1"' }, { "x-request-id": "r-1" }]) {
    const missing = await get("/v1/things/9", headers);
    expect(missing.status).toBe(404);
    expect(Object.fromEntries(missing.headers)).toMatchObject({
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      "tributary-cache-control": "public, max-age=1",
      "cache-groups": '"thing-9"',
      vary: "Authorization",
    });
    expect(missing.headers.get("cdn-cache-control")).toBeNull();
    expect(await missing.json()).toEqual({
      ...{ type: "/problems/not-found", title: "Not found", status: 404 },
      ...{ detail: "There is no such thing.", instance: "/v1/things/9" },
    });
  }
  const forUser = await get("/v1/things/9", { authorization: "1", "x-request-id": "r-1" });
  for (const name of ["tributary-cache-control", "cache-groups"]) expect(forUser.headers.get(name)).toBeNull();
  expect(await forUser.json()).toMatchObject({ requestId: "r-1" });
  expect((await get("/v1/nothing")).headers.get("tributary-cache-control")).toBeNull();
});

test("HEAD has the headers of GET", async () => {
  const full = await get("/v1/things/1");
  const known = await fetch(`${url}/v1/things/1`, { method: "HEAD", headers: { "if-none-match": etagOf(full) } });
  expect([known.status, known.headers.get("etag")]).toEqual([304, etagOf(full)]);
});

test("a row that changes between the two reads is compared by its later version", async () => {
  meanwhile = () => change("1", { rowVersion: "8" });
  const current = etagOf(await get("/v1/things/2")).replace('"7', '"8');
  const met = await get("/v1/things/1", { "if-none-match": current });
  expect([met.status, met.headers.get("etag")]).toEqual([304, current]);
  change("1", { rowVersion: "7" });
  const missed = await get("/v1/things/1", { "if-none-match": '"6-v1.x-public"' });
  expect([missed.status, missed.headers.get("etag")]).toEqual([200, current]);
});

test("a 401 names the scheme, and `invalid_token` if a token was sent", async () => {
  const challenge = async (headers: Record<string, string>) => {
    const { status, headers: responseHeaders } = await get("/v1/own?nothing=1", headers);
    return [status, responseHeaders.get("www-authenticate")];
  };
  expect(await challenge({ authorization: "bad" })).toEqual([401, 'Bearer realm="tributary", error="invalid_token"']);
  expect(await challenge({})).toEqual([400, null]);
});

test.each([
  { "if-match": '"6-v1.x-public"' },
  { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" },
  { range: "bytes=0-1" },
])("GET and HEAD ignore %j, as the proxy does", async (headers) => {
  const full = await get("/v1/things/1");
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(`${url}/v1/things/1`, { method, headers });
    expect([response.status, etagOf(response)]).toEqual([200, etagOf(full)]);
  }
  expect(reads).toEqual(["load", "load", "load"]);
});

test("a problem document has no caching headers of the failed response", async () => {
  const broken = await get("/v1/things/3");
  expect([broken.status, broken.headers.get("cache-control")]).toEqual([500, "no-store"]);
  for (const name of ["cdn-cache-control", "cache-groups", "etag", "last-modified"]) {
    expect([name, broken.headers.get(name)]).toEqual([name, null]);
  }
});

test("a response for one caller has Vary: Authorization, and so has its 304", async () => {
  change("1", { audience: "caller" });
  const full = await get("/v1/things/1");
  const known = await get("/v1/things/1", { "if-none-match": etagOf(full) });
  expect([full, known].map(({ status }) => status)).toEqual([200, 304]);
  for (const response of [full, known]) expect(response.headers.get("vary")).toBe("Authorization");
  expect([full, known].map(({ headers }) => headers.get("cache-control"))).toEqual(Array(2).fill("private, no-cache"));
  expect(full.headers.get("cdn-cache-control")).toBeNull();
});

test("if the body can differ by caller, the 200, the 304, the 400 and the 401 have Vary: Authorization", async () => {
  const etag = etagOf(await get("/v1/own"));
  const requests: readonly (readonly [string, Record<string, string>, number])[] = [
    ["/v1/own", {}, 200],
    ["/v1/own", { "if-none-match": etag }, 304],
    ["/v1/own?nothing=1", {}, 400],
    ["/v1/own", { authorization: "bad" }, 401],
    ["/v1/things?status=x", {}, 200],
    ["/v1/things?status=x", { "if-none-match": "*" }, 304],
    ["/v1/things?status=x&limit=0", {}, 400],
    ["/v1/things?status=x&status=y", {}, 400],
    ["/v1/things?status=x", { authorization: "bad" }, 401],
  ];
  for (const [path, headers, status] of requests) {
    const response = await get(path, headers);
    expect([path, response.status, response.headers.get("vary")]).toEqual([path, status, "Authorization"]);
    expect(response.headers.get("cache-control")).toBe(status < 400 ? "private, no-cache" : "no-store");
  }
  expect((await get("/v1/things")).headers.get("vary")).toBeNull();
});

test("a list's ETag depends on its row versions, its page, its projection and the cursor key", async () => {
  const etag = etagOf(await get("/v1/things?limit=2"));
  const isKnown = async (path: string) => (await get(path, { "if-none-match": etag })).status === 304;
  reads.length = 0;
  expect([await isKnown("/v1/things?limit=2"), reads]).toEqual([true, ["list version"]]);
  expect(await isKnown("/v1/things?limit=1")).toBe(false);
  expect(await isKnown("/v2/things?limit=2")).toBe(false);
  const changes = {
    "a row's version": () => change("2", { rowVersion: "8" }),
    "another row in its place": () => (things = things.filter(({ id }) => id !== "3")),
    "no next page any more": () => (things = things.filter(({ id }) => id !== "1")),
    "another revision of the projection": () => (revisions = ["anew"]),
    "another key that signs": () => (cursors = newCursors),
  };
  for (const [what, make] of Object.entries(changes)) {
    const before = things;
    make();
    expect([what, await isKnown("/v1/things?limit=2")]).toEqual([what, false]);
    [things, revisions, cursors] = [before, ["as it is"], oldCursors];
    expect([what, await isKnown("/v1/things?limit=2")]).toEqual([what, true]);
  }
});

test("a list of version 2 is an object with the cursors of the adjacent pages, equal to the links", async () => {
  const ids = async (path: string) => {
    const response = await get(path);
    const body = (await response.json()) as Envelope;
    const linked = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    const next = linked === undefined ? null : new URL(linked, url).searchParams.get("cursor");
    expect([response.headers.get("content-type"), body.page.next]).toEqual(["application/json", next]);
    return { ids: body.data.map(({ id }) => id), ...body.page };
  };
  const first = await ids("/v2/things?limit=2");
  expect([first.ids, first.prev]).toEqual([["3", "2"], null]);
  const second = await ids(`/v2/things?limit=2&cursor=${first.next}`);
  expect([second.ids, second.next]).toEqual([["1"], null]);
  expect((await ids(`/v2/things?limit=2&cursor=${second.prev}`)).ids).toEqual(["3", "2"]);
  expect(await (await get("/v1/things?limit=1")).json()).toEqual([expect.objectContaining({ id: "3" })]);
});

test("a write that succeeds invalidates the cache groups of the changed resource", async () => {
  const response = await patch("/v1/things/1", "application/merge-patch+json");
  expect([response.status, response.headers.get("cache-group-invalidation")]).toEqual([200, '"thing-1", "things"']);
  expect([response.headers.get("cache-control"), response.headers.get("etag")]).toEqual([
    "no-store",
    '"8-v1.x-public"',
  ]);
  expect((await patch("/v1/things/9", "application/merge-patch+json")).headers.has("cache-group-invalidation")).toBe(
    false,
  );
});

test("If-Match of a write is evaluated only by its action", async () => {
  const response = await patch("/v1/things/1", "application/merge-patch+json", { "if-match": '"7-v1.x-public"' });
  expect(response.status).toBe(200);
});

test("a patch in another format is a 415 with Accept-Patch, like OPTIONS", async () => {
  const rejected = await patch("/v1/things/1", "application/json-patch+json");
  const options = await fetch(`${url}/v1/things/1`, { method: "OPTIONS" });
  expect([rejected.status, options.status]).toEqual([415, 204]);
  for (const { headers } of [rejected, options]) {
    expect(headers.get("accept-patch")).toBe("application/merge-patch+json");
  }
});

test("a method that no route of the path declares is a 405 with Allow, before the token is verified", async () => {
  const rejected = await fetch(`${url}/v1/things/1`, { method: "PUT", headers: { authorization: "bad" } });
  expect([rejected.status, rejected.headers.get("allow")]).toEqual([405, "GET, HEAD, PATCH, OPTIONS"]);
  expect(rejected.headers.get("content-type")).toBe("application/problem+json");
  expect(await rejected.json()).toMatchObject({ status: 405, detail: "This path accepts GET, HEAD, PATCH." });
  const readOnly = await fetch(`${url}/v1/things`, { method: "POST", body: "{}" });
  expect([readOnly.status, readOnly.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  const options = await fetch(`${url}/v1/things`, { method: "OPTIONS" });
  expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  expect(reads).toEqual([]);
});

test("a request after its deadline is not started", async () => {
  const late = await get("/v1/things/1", { "x-deadline-ms": "0" });
  expect([late.status, late.headers.get("retry-after"), reads]).toEqual([503, "1", []]);
  expect((await get("/v1/things/1", { "x-deadline-ms": "60000" })).status).toBe(200);
});

interface Envelope {
  readonly data: readonly Thing[];
  readonly page: { readonly next: string | null; readonly prev: string | null };
}

function handlersOf(version: number): Handlers<typeof routes> {
  const projection = { version, revision: "x" };
  const represent = ({ id, rowVersion, audience }: Thing) => ({
    etag: writeEtag(rowVersion, projection, audience === "everyone" ? "public" : "private"),
    lastModified: new Date("2026-01-01T00:00:00.000Z"),
    audience,
    groups: [`thing-${id}`],
  });
  const respond = (thing: Thing) => ({ status: 200, body: thing, representation: represent(thing) });
  return {
    one: (request) =>
      respondToRead(request, {
        missingGroups: [`thing-${request.params["id"]}`],
        readVersion: async () => {
          reads.push("version");
          return represent(find(request.params["id"]));
        },
        load: async () => {
          reads.push("load");
          meanwhile();
          // An invalid header value, which fails when the response is written.
          const headers = request.params["id"] === "3" ? { "X-Broken": "\n" } : {};
          return { ...respond(find(request.params["id"])), headers };
        },
      }),
    change: async ({ params }) => {
      const changed = { ...find(params["id"]), rowVersion: "8" };
      return { ...respond(changed), invalidates: [`thing-${changed.id}`, "things"] };
    },
    list: (request) =>
      respondWithList<Thing>({
        request,
        cursors,
        list: nameList("things", {}),
        projection: createProjection(version, revisions),
        view: "public",
        audience: "everyone",
        groups: ["things"],
        idOf: ({ id }) => id,
        toJson: (thing) => thing,
        readVersion: async (page) => {
          reads.push("list version");
          return pageOf(page);
        },
        load: async (page) => pageOf(page),
      }),
    own: (request) =>
      respondToRead(request, {
        readVersion: async () => ({ ...represent(find("1")), audience: "caller" }),
        load: async () => ({ ...respond(find("1")), representation: { ...represent(find("1")), audience: "caller" } }),
      }),
  };
}

function find(id: string | undefined): Thing {
  const thing = things.find((one) => one.id === id);
  if (thing === undefined) throw new AppError("NOT_FOUND", "There is no such thing.");
  return thing;
}

function change(id: string, changes: Partial<Thing>): void {
  things = things.map((thing) => (thing.id === id ? { ...thing, ...changes } : thing));
}

/** The rows that a keyset statement returns, from the highest id down. */
function pageOf({ limit, position }: PageRequest): ListPage<Thing> {
  const at = things.findIndex(({ id }) => id === position?.id);
  const [begin, end] = position?.direction === "prev" ? [Math.max(0, at - limit), at] : [at + 1, at + 1 + limit];
  return { items: things.slice(begin, end), hasNext: end < things.length, hasPrev: begin > 0 };
}

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url + path, { headers });
}

function patch(path: string, type: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url + path, { method: "PATCH", headers: { "content-type": type, ...headers }, body: "{}" });
}
