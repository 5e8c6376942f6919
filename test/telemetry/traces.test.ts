import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { createSpanCollector, type RecordedSpan } from "../../kit/src/testing/trace.ts";
import { type Platform, startPlatform } from "../end-to-end/platform.ts";

const collector = createSpanCollector();
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"), collector);
});
beforeEach(() => collector.reset());
afterAll(() => platform.stop());

const callerTrace = "0af7651916cd43dd8448eb211c80319c";
const callerSpan = "b7ad6b7169203331";

const feed = `query Feed {
  posts(first: 20) { nodes { title author { name } comments(first: 2) { body author { name } } } }
}`;

test.each(["full", "fast"])(
  "on the %s path one query is one trace with a span for each stage, fetch, attempt, subgraph request and statement",
  async (path) => {
    if (path === "fast") await platform.graphql(feed);
    await settled();
    collector.reset();
    expect((await platform.graphql(feed)).body.errors).toBeUndefined();
    const root = await rootOf("gateway");
    expect(root).toMatchObject({ name: "query Feed", kind: "server", attributes: { "tributary.path": path } });
    expect(root.attributes).toMatchObject({
      "graphql.operation.name": "Feed",
      "tributary.document_hash": sha256(feed),
      "http.route": "/graphql",
      "url.path": "/graphql",
    });
    expect(collector.paths()).toEqual([
      "query Feed > admit",
      "query Feed > parse",
      "query Feed > plan",
      "query Feed > run > fetch comments > attempt comments > query _entities > list-parts-by-post",
      "query Feed > run > fetch posts > attempt posts > query posts > list-brief-posts-first",
      "query Feed > run > fetch users > attempt users > query _entities > find-users",
      "query Feed > run > fetch users > attempt users > query _entities > find-users",
      "query Feed > shape",
    ]);
    expectOneTrace(root);
  },
);

test("the span of a failed fetch is failed, and the span of a request with partial data is not", async () => {
  await platform.services.users.goDown();
  const { body } = await platform.graphql(feed, { headers: { traceparent: `00-${callerTrace}-${callerSpan}-01` } });
  await platform.services.users.comeUp();
  expect(body.data.posts.nodes[0].author).toBeNull();
  const request = await ended((span) => span.name === "query Feed");
  expect(request).toMatchObject({ traceId: callerTrace, parentId: callerSpan, failed: false });
  const fetches = collector.spans().filter(({ name }) => name === "fetch users");
  expect(fetches).toMatchObject([
    { failed: true, attributes: { "error.type": "SUBGRAPH_UNAVAILABLE" } },
    { failed: true },
  ]);
  const attempt = collector.spans().find(({ name }) => name === "attempt users");
  expect(attempt).toMatchObject({ failed: true, kind: "client", attributes: { "error.type": "refused" } });
});

test("a response has the traceparent of its request's span", async () => {
  const { headers } = await platform.graphql("{ __typename }");
  const root = await rootOf("gateway");
  expect(headers.get("traceparent")).toBe(`00-${root.traceId}-${root.spanId}-01`);
});

test("one REST request is one trace with a span for the attempt, the service's request and each statement", async () => {
  const { status } = await platform.rest("GET", "/v1/posts/1");
  expect(status).toBe(200);
  const root = await rootOf("rest-proxy");
  expect(root).toMatchObject({
    name: "GET /posts/:id",
    kind: "server",
    attributes: { "http.response.status_code": 200, "tributary.version": 1, "tributary.cache": "fwd=uri-miss" },
  });
  expect(root.attributes).toMatchObject({ "http.route": "/posts/:id", "url.path": "/posts/:id" });
  expect(collector.paths()).toEqual(["GET /posts/:id > forward posts > GET /v1/posts/:id > find-posts"]);
  expectOneTrace(root);
});

test("the span of an attempt has the address and the port of its replica", async () => {
  await platform.rest("GET", "/v1/posts/3");
  await rootOf("rest-proxy");
  const forwarded = collector.spans().find(({ name }) => name === "forward posts");
  collector.reset();
  await platform.graphql(feed);
  await rootOf("gateway");
  const fetched = collector.spans().find(({ name }) => name === "attempt posts");
  const { port } = new URL(platform.services.posts.url);
  const replica = { "server.address": "127.0.0.1", "server.port": Number(port) };
  expect(forwarded).toMatchObject({ process: "rest-proxy", kind: "client", attributes: replica });
  expect(fetched).toMatchObject({ process: "gateway", kind: "client", attributes: replica });
});

test("a cache hit is a trace of one span", async () => {
  await platform.rest("GET", "/v1/posts/2");
  await settled();
  collector.reset();
  expect((await platform.rest("GET", "/v1/posts/2")).headers.get("cache-status")).toContain("hit");
  await rootOf("rest-proxy");
  expect(collector.spans()).toMatchObject([{ name: "GET /posts/:id", attributes: { "tributary.cache": "hit" } }]);
});

test("the span of an attempt to reach a service that is down is failed", async () => {
  await platform.services.comments.goDown();
  const { status } = await platform.rest("GET", "/v1/posts/1/comments");
  await platform.services.comments.comeUp();
  expect(status).toBe(502);
  expect(await rootOf("rest-proxy")).toMatchObject({ failed: true, attributes: { "error.type": "BAD_GATEWAY" } });
  expect(collector.spans()[0]).toMatchObject({ name: "forward comments", failed: true });
});

/** All spans belong to the root's trace, and only a client span has a child span of another process. */
function expectOneTrace(root: RecordedSpan): void {
  const spans = collector.spans();
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([root.traceId]));
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  for (const span of spans) {
    const parent = byId.get(span.parentId ?? "");
    if (span.spanId !== root.spanId) expect(parent).toBeDefined();
    if (!parent || parent.process === span.process) continue;
    expect([parent.kind, span.kind]).toEqual(["client", "server"]);
    expect([parent.attributes["tributary.subgraph"], parent.attributes["tributary.service"]]).toContain(span.process);
  }
}

/** Waits for the only span without a parent, which belongs to the given process. */
async function rootOf(process: string): Promise<RecordedSpan> {
  const root = await ended(({ parentId }) => parentId === undefined);
  expect(root.process).toBe(process);
  expect(collector.spans().filter(({ parentId }) => parentId === undefined)).toHaveLength(1);
  return root;
}

/** Waits for a span: it may end shortly after the client has received the response. */
async function ended(matches: (span: RecordedSpan) => boolean): Promise<RecordedSpan> {
  await expect.poll(() => collector.spans().some(matches)).toBe(true);
  return collector.spans().find(matches)!;
}

/** Waits until the parents of all recorded spans have ended. */
async function settled(): Promise<void> {
  const listOrphans = () => {
    const spans = collector.spans();
    const known = new Set(spans.map(({ spanId }) => spanId));
    return spans.filter(({ parentId }) => parentId !== undefined && !known.has(parentId));
  };
  await expect.poll(listOrphans).toEqual([]);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
