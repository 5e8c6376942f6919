import { AbortSource } from "@tributary/kit/http/abort-source";
import { expect, test } from "vitest";
import { createEntityCache } from "../caching/entity-cache.ts";
import { createCachingCollector } from "../caching/response-caching.ts";
import { withEntityCache } from "./cached-fetch.ts";
import { createFetch } from "./fetch.ts";
import type { SubgraphRequest } from "./subgraph-request.ts";
import { toSubgraph } from "./testing/subgraphs.ts";
import { toRead, toResult } from "./testing/reads.ts";

// gateway/test/entity-cache.test.ts has the whole gateway, with entities, credentials and errors.

const { signal } = new AbortController();
const entityCache = (nowMs?: () => number) =>
  createEntityCache({
    ...{ services: new Set(["notes"]), bytesMax: 1_000_000, feedUrls: {}, feedKey: "", requestTimeoutMs: 1_000 },
    ...{ nameOf: (subgraph: string) => subgraph, observe: () => {} },
    ...(nowMs && { nowMs }),
  });

function setUp(seconds: number | undefined) {
  const cache = entityCache().of("notes");
  if (!cache) throw new Error("The cache is on.");
  const sent: SubgraphRequest[] = [];
  const fetch = withEntityCache((request) => {
    sent.push(request);
    const declared = { staleIfErrorSeconds: 0, groups: [], entities: undefined, needsFeed: false };
    const caching = seconds === undefined ? undefined : { seconds, ...declared };
    const result = { ...toResult({ me: request.authorization ?? "public" }), caching };
    request.onResult?.(result);
    return Promise.resolve(result);
  });
  const parts = { head: '{"query":"{ me }"', responseForm: undefined, variables: "", lists: [] };
  const read = (authorization?: string): SubgraphRequest => ({
    ...toRead('{"query":"{ me }"}'),
    authorization,
    cache,
    parts,
  });
  const fetchData = async (request: SubgraphRequest) => {
    const result = await fetch(request, signal);
    return result.kind === "graphql" ? result.data : result;
  };
  return { sent, read, fetchData };
}

test("a public result is fetched without credentials, and then read from the cache by every caller", async () => {
  const { sent, read, fetchData } = setUp(60);
  for (const token of ["Bearer a", "Bearer b", undefined])
    expect(await fetchData(read(token))).toEqual({ me: "public" });
  expect(sent).toMatchObject([{ authorization: undefined, wantsCaching: true }]);
  expect(sent[0]?.body).toBe('{"query":"{ me }","extensions":{"cacheMetadata":true}}');
});

test("a result that is not for every caller is fetched again with the caller's credentials, then with them at once", async () => {
  const { sent, read, fetchData } = setUp(undefined);
  expect(await fetchData(read("Bearer a"))).toEqual({ me: "Bearer a" });
  expect(await fetchData(read("Bearer b"))).toEqual({ me: "Bearer b" });
  expect(sent.map(({ authorization }) => authorization)).toEqual([undefined, "Bearer a", "Bearer b"]);
});

test("a stale result, used because the fetch failed, must not be stored by other caches", async () => {
  let nowMs = 0;
  const cache = entityCache(() => nowMs).of("notes");
  if (!cache) throw new Error("The cache is on.");
  let isDown = false;
  const caching = { seconds: 5, staleIfErrorSeconds: 60, groups: [], entities: undefined, needsFeed: false };
  const fetch = withEntityCache((request) => {
    const failed = { kind: "failed", code: "SUBGRAPH_UNAVAILABLE", cause: undefined, replica: undefined } as const;
    const result = isDown ? failed : { ...toResult({ me: "public" }), caching };
    request.onResult?.(result);
    return Promise.resolve(result);
  });
  const parts = { head: '{"query":"{ me }"', responseForm: undefined, variables: "", lists: [] };
  const scope = { caching: createCachingCollector() };
  const read = { ...toRead('{"query":"{ me }"}', scope), cache, parts };
  expect(await fetch(read, signal)).toMatchObject({ data: { me: "public" }, caching: { seconds: 5 } });
  isDown = true;
  nowMs += 64_999;
  const stale = await fetch(read, signal);
  expect(stale).toMatchObject({ data: { me: "public" }, errors: [] });
  expect(stale).not.toHaveProperty("caching.seconds");
  nowMs += 1;
  expect(await fetch(read, signal)).toMatchObject({ kind: "failed" });
});

test("a request that is not cacheable is passed on as it is", async () => {
  const { sent, fetchData } = setUp(60);
  const request = toRead("a");
  await fetchData(request);
  expect(sent).toEqual([request]);
});

test("after the deadline nothing is sent, also between the two requests of a cached read", async () => {
  const cache = entityCache();
  const deadline = new AbortSource();
  let sentCount = 0;
  const fetch = createFetch({
    fetchSharing: true,
    entityCache: cache,
  });
  const subgraph = toSubgraph({
    post() {
      sentCount++;
      deadline.abort("timeout");
      return Promise.resolve(reply);
    },
  });
  const parts = { head: '{"query":"{ me }"', responseForm: undefined, variables: "", lists: [] };
  const cached = { cache: cache.of("notes")!, parts };
  const read = { ...toRead('{"query":"{ me }"}'), subgraph, authorization: "Bearer a", ...cached };
  await fetch(read, deadline);
  expect(sentCount).toBe(1);
  expect(await fetch(read, deadline)).toMatchObject({ kind: "abandoned" });
  expect(await fetch(toRead("a"), deadline)).toMatchObject({ kind: "abandoned" });
  expect(sentCount).toBe(1);
});

const reply = {
  kind: "response",
  replica: "a",
  status: 200,
  contentType: "application/json",
  writePosition: undefined,
  headers: {},
  body: Buffer.from('{"data":{"me":null}}'),
} as const;
