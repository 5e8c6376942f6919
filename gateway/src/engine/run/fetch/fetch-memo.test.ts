import { expect, test } from "vitest";
import type { SubgraphRequest } from "./subgraph-request.ts";
import { withMemo } from "./fetch-memo.ts";
import type { FetchResult } from "./subgraph-response.ts";
import { toRead, toResult } from "./testing/reads.ts";

const { signal } = new AbortController();

function setUp() {
  const sent: SubgraphRequest[] = [];
  const fetch = withMemo((request) => {
    sent.push(request);
    return Promise.resolve(toResult({}));
  });
  return { sent, fetch };
}

test("a client request sends equal reads once, and others each", async () => {
  const { sent, fetch } = setUp();
  const repeats = new Map<string, Promise<FetchResult>>();
  const read = { ...toRead("a"), repeats };
  expect(await fetch(read, signal)).toBe(await fetch({ ...read }, signal));
  await fetch({ ...read, body: "b" }, signal);
  await fetch({ ...read, service: "orders" }, signal);
  expect(sent).toHaveLength(3);
});

test("a result of another client request, or of a read that cannot repeat, is not reused", async () => {
  const { sent, fetch } = setUp();
  for (const repeats of [new Map(), new Map(), undefined, undefined]) await fetch({ ...toRead("a"), repeats }, signal);
  expect(sent).toHaveLength(4);
});
