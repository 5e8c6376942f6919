import { beforeEach, describe, expect, test } from "vitest";
import { route, startProxy, startStub } from "./testing.ts";

const routes = [
  route("getPost", "GET", "/posts/:id", { cache: "public" }),
  route("changePost", "PATCH", "/posts/:id", {}),
];

/** The posts at the service; a test changes them as a mutation at the GraphQL endpoint would. */
let posts: { version: number; isPublic: boolean; cacheControl: string };
/** The status of every response of the service to a request without a token, if set. */
let failure: number | undefined;
let nowMs: number;

beforeEach(() => {
  posts = { version: 1, isPublic: true, cacheControl: "public, max-age=60" };
  failure = undefined;
  nowMs = Date.now();
});

describe("GET and HEAD ignore fields that no route supports (RFC 9110, 13.1.1, 13.1.4 and 14.2)", () => {
  test.each([
    ["Range", "bytes=0-1"],
    ["If-Match", '"7"'],
    ["If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["If-Range", '"1"'],
  ])("%s: %s is served from the cache and not forwarded to the service", async (name, value) => {
    const { send, stub } = await setUp();
    for (const method of ["HEAD", "GET", "GET", "HEAD"]) {
      const { status, headers } = await send("/v1/posts/1", { [name]: value }, method);
      expect([status, headers.get("etag"), headers.get("content-range")]).toEqual([200, '"1"', null]);
    }
    expect(stub.received.map(({ method }) => method)).toEqual(["HEAD", "GET"]);
    expect(stub.received.filter(({ headers }) => headers[name.toLowerCase()] !== undefined)).toEqual([]);
  });

  test("If-Match on a PATCH reaches the service", async () => {
    const { send } = await setUp();
    const statusOf = async (etag: string) => (await send("/v1/posts/1", { "if-match": etag }, "PATCH")).status;
    expect([await statusOf('"7"'), await statusOf('"1"')]).toEqual([412, 200]);
  });
});

describe("A client's no-cache", () => {
  test("returns what another endpoint changed, and the PATCH with its ETag succeeds", async () => {
    const { send } = await setUp();
    await send("/v1/posts/1");
    posts.version = 2;
    const cached = await send("/v1/posts/1");
    expect((await send("/v1/posts/1", { "if-match": cached.headers.get("etag") ?? "" }, "PATCH")).status).toBe(412);
    const current = await send("/v1/posts/1", { "cache-control": "no-cache" });
    expect([current.headers.get("etag"), await current.text()]).toEqual(['"2"', '{"version":2}']);
    expect(current.headers.get("cache-status")).toBe("tributary; fwd=request; fwd-status=200; stored");
    expect((await send("/v1/posts/1", { "if-match": '"2"' }, "PATCH")).status).toBe(200);
  });

  test.each<Record<string, string>>([
    { "cache-control": "no-cache" },
    { "cache-control": "max-age=0" },
    { pragma: "no-cache" },
    { "cache-control": "no-cache", authorization: "Bearer x" },
  ])("%j makes one conditional request to the origin for 20 clients at once", async (headers) => {
    const { send, stub } = await setUp();
    await send("/v1/posts/1");
    const responses = await Promise.all(Array.from({ length: 20 }, () => send("/v1/posts/1", headers)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(stub.received.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"1"']);
  });

  test.each(["GET", "HEAD"])("makes one request to the origin for 20 of %s within a second", async (method) => {
    const { send, stub } = await setUp();
    await send("/v1/posts/1");
    const cacheStatuses = new Set<string | null>();
    for (let count = 0; count < 20; count++) {
      cacheStatuses.add(
        (await send("/v1/posts/1", { "cache-control": "no-cache" }, method)).headers.get("cache-status"),
      );
    }
    expect(stub.received.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"1"']);
    expect([...cacheStatuses]).toEqual(["tributary; fwd=request; fwd-status=304; stored", "tributary; hit; ttl=60"]);
    nowMs += 1_000;
    posts.version = 2;
    const later = await send("/v1/posts/1", { "cache-control": "no-cache" }, method);
    expect(later.headers.get("etag")).toBe('"2"');
  });

  test("gets no response whose origin request was sent a second or more earlier", async () => {
    const { send, stub, hold } = await setUp();
    await send("/v1/posts/1");
    const release = hold();
    const early = send("/v1/posts/1", { "cache-control": "no-cache" });
    await expect.poll(() => stub.received.length).toBe(2);
    posts.version = 2;
    nowMs += 1_000;
    const late = send("/v1/posts/1", { "cache-control": "no-cache" });
    await expect.poll(() => stub.received.length).toBe(3);
    release();
    expect([(await early).headers.get("etag"), (await late).headers.get("etag")]).toEqual(['"1"', '"2"']);
  });

  test("gets no response whose origin request an ordinary read caused", async () => {
    const { send, stub, hold } = await setUp();
    const release = hold();
    const ordinary = send("/v1/posts/1");
    await expect.poll(() => stub.received.length).toBe(1);
    posts.version = 2;
    const releaseNothing = hold();
    releaseNothing();
    const current = await send("/v1/posts/1", { "cache-control": "no-cache" });
    release();
    expect([(await ordinary).headers.get("etag"), current.headers.get("etag")]).toEqual(['"1"', '"2"']);
    // The older response came later, and must not replace the newer one.
    expect((await send("/v1/posts/1")).headers.get("etag")).toBe('"2"');
  });

  test.each([
    ["bad", 401],
    ["limited", 429],
    ["unknown", 404],
  ])("with the token %s and the response %i evicts nothing", async (token, status) => {
    const { send } = await setUp();
    await send("/v1/posts/1");
    posts.isPublic = false;
    const response = await send("/v1/posts/1", { "cache-control": "no-cache", authorization: `Bearer ${token}` });
    expect(response.status).toBe(status);
    expect((await send("/v1/posts/1")).headers.get("cache-status")).toBe("tributary; hit; ttl=60");
  });

  test("with the author's token returns the author's view of a resource that is no longer public", async () => {
    const { send } = await setUp();
    await send("/v1/posts/1");
    posts = { version: 2, isPublic: false, cacheControl: "private, no-cache" };
    const response = await send("/v1/posts/1", { "cache-control": "no-cache", authorization: "Bearer author" });
    expect([response.status, response.headers.get("etag")]).toEqual([200, '"2"']);
    expect((await send("/v1/posts/1")).status).toBe(404);
  });

  test.each([0, 70])(
    "makes one request per second to a failing service where stale-if-error permits the entry, %i s old",
    async (ageSeconds) => {
      posts.cacheControl = "public, max-age=60, stale-if-error=60";
      const { send, stub } = await setUp();
      await send("/v1/posts/1");
      nowMs += ageSeconds * 1_000;
      failure = 503;
      const statuses = new Set<number>();
      for (let count = 0; count < 20; count++) {
        statuses.add((await send("/v1/posts/1", { "cache-control": "no-cache" })).status);
      }
      expect([[...statuses], stub.received.length]).toEqual([[200], 2]);
      nowMs += 1_000;
      failure = undefined;
      posts.version = 2;
      expect((await send("/v1/posts/1", { "cache-control": "no-cache" })).headers.get("etag")).toBe('"2"');
    },
  );

  test("gets the service's error if the entry has no stale-if-error (RFC 9111, 4.2.4 and 4.3.3)", async () => {
    const { send } = await setUp();
    await send("/v1/posts/1");
    failure = 503;
    expect((await send("/v1/posts/1", { "cache-control": "no-cache" })).status).toBe(503);
    expect((await send("/v1/posts/1")).headers.get("cache-status")).toBe("tributary; hit; ttl=60");
  });

  test("without a token does not wait for a request with a token, whose rejection concerns only its client", async () => {
    const { send, stub, hold } = await setUp();
    await send("/v1/posts/1");
    const release = hold();
    const bad = Array.from({ length: 2 }, () =>
      send("/v1/posts/1", { "cache-control": "no-cache", authorization: "Bearer bad" }),
    );
    await expect.poll(() => stub.received.length).toBe(2);
    const anonymous = Array.from({ length: 20 }, () => send("/v1/posts/1", { "cache-control": "no-cache" }));
    await expect.poll(() => stub.received.length).toBe(3);
    release();
    expect(new Set((await Promise.all(anonymous)).map(({ status }) => status))).toEqual(new Set([200]));
    await Promise.all(bad);
    expect(stub.received.length).toBeLessThanOrEqual(1 + 3);
  });

  test.each([
    [400, true],
    [408, true],
    [413, true],
    [429, true],
    [431, true],
    [401, false],
    [403, false],
    [404, false],
    [410, false],
  ])("with the response status %i leaves the entry in the cache: %s", async (status, isKept) => {
    const { send } = await setUp();
    await send("/v1/posts/1");
    failure = status;
    expect((await send("/v1/posts/1", { "cache-control": "no-cache" })).status).toBe(status);
    expect((await send("/v1/posts/1")).status).toBe(isKept ? 200 : status);
  });

  test("gets no stale response while a refresh is in flight", async () => {
    posts.cacheControl = "public, max-age=1, stale-while-revalidate=60";
    const { send } = await setUp();
    await send("/v1/posts/1");
    nowMs += 2_000;
    posts.version = 2;
    expect((await send("/v1/posts/1", { "cache-control": "no-cache" })).headers.get("etag")).toBe('"2"');
  });
});

test("a client's no-store, only-if-cached, max-stale, min-fresh and max-age above 0 have no effect", async () => {
  const { send, stub } = await setUp();
  for (const directive of ["no-store", "only-if-cached", "max-stale=9", "min-fresh=999", "max-age=1"]) {
    expect((await send("/v1/posts/1", { "cache-control": directive })).status).toBe(200);
    nowMs += 2_000;
  }
  expect(stub.received).toHaveLength(1);
});

/** A proxy before a service that evaluates every condition, and that a test can make wait. */
async function setUp() {
  let gate = Promise.resolve();
  const stub = await startStub((request, response) => {
    const { version, isPublic, cacheControl } = posts;
    const etag = `"${version}"`;
    const { authorization, ...conditions } = request.headers;
    const mayRead = isPublic || authorization === "Bearer author";
    const status = (() => {
      if (authorization === "Bearer bad") return 401;
      if (authorization === "Bearer limited") return 429;
      if (failure !== undefined) return failure;
      if (!mayRead) return 404;
      if (conditions["if-match"] !== undefined && conditions["if-match"] !== etag) return 412;
      if (conditions["if-unmodified-since"] !== undefined) return 412;
      if (conditions.range !== undefined) return 206;
      return conditions["if-none-match"] === etag ? 304 : 200;
    })();
    const body = JSON.stringify({ version });
    response.setHeader("Date", new Date(nowMs).toUTCString());
    response.setHeader("Cache-Control", status < 400 ? cacheControl : "no-store");
    if (status < 400) response.setHeader("ETag", etag);
    if (status !== 304) response.setHeader("Content-Length", Buffer.byteLength(body));
    void gate.then(() =>
      response.writeHead(status).end(status === 304 || request.method === "HEAD" ? undefined : body),
    );
  });
  const proxy = await startProxy(stub, { routes, corsOrigins: [], nowMs: () => nowMs });
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") => {
    // `fetch` adds `Cache-Control: no-cache` to a conditional request that has no `Cache-Control`; the tests of `Pragma` have none.
    const control = "pragma" in headers ? {} : { "cache-control": "max-age=60" };
    return fetch(proxy.url + path, { method, headers: { "accept-encoding": "identity", ...control, ...headers } });
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  return { stub, send, hold };
}
