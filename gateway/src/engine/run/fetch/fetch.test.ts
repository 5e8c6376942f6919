import { AbortSource } from "@tributary/kit/http/abort-source";
import { expect, test } from "vitest";
import type { EntityCache } from "../caching/entity-cache.ts";
import { createFetch } from "./fetch.ts";
import { abandonedFetch, abortedFetch } from "./subgraph-client.ts";
import { toRead } from "./testing/reads.ts";
import { toSubgraph } from "./testing/subgraphs.ts";

/** With the time left when the fetch is due, and when it is sent. */
async function fetchWith(dueLeftMs: number, sentLeftMs: number, entityCache?: EntityCache) {
  const bodies: string[] = [];
  const post = (body: string) => {
    bodies.push(body);
    return Promise.resolve(abortedFetch("timeout", "a"));
  };
  const endsAtMs = performance.now() + sentLeftMs;
  const request = { ...toRead("{}"), subgraph: toSubgraph({ post }), dueMs: endsAtMs - dueLeftMs };
  const result = await createFetch({ fetchSharing: true, entityCache })(request, new AbortSource(endsAtMs));
  return { result, isSent: bodies.length > 0 };
}

test("a fetch that is due within the last 5 ms of its request is not sent, although its signal is not aborted yet", async () => {
  expect(await fetchWith(5, 1_000)).toEqual({ result: abandonedFetch(), isSent: false });
  expect(await fetchWith(1_000, 1_000)).toMatchObject({ isSent: true });
});

test("the time is read again below the entity cache, which may have waited for a feed", async () => {
  const unused = {} as EntityCache;
  expect(await fetchWith(1_000, 5, unused)).toEqual({ result: abandonedFetch(), isSent: false });
  expect(await fetchWith(1_000, 1_000, unused)).toMatchObject({ isSent: true });
});
