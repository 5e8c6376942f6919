import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

// How operations are charged to the rate limits of their callers.

let library: Library;
beforeAll(async () => {
  library = await startLibrary();
});
afterAll(async () => {
  await library.close();
});
beforeEach(() => {
  for (const { requests } of library.all) requests.length = 0;
});

const oneFetch = "{ people { name } }";
const threeFetches = "{ people { name books { title stars } } }";
const mutation = 'mutation { rename(id: "1", name: "Augusta") { name } }';
const modern = { accept: "application/graphql-response+json" };
/** Callers are addresses in front of a trusted proxy. */
const by = (address: string) => ({ headers: { "x-forwarded-for": address } });
const ada = by("192.0.2.1");
const grace = by("192.0.2.2");
const warmUp = by("192.0.2.99");

interface Limits {
  readonly reads?: number;
  readonly writes?: number;
}

/** The documents of this file are known, or their first use would cost units. */
async function startLimited(limits: Limits, more: Record<string, string> = {}): Promise<RunningGateway> {
  const environment = {
    RATE_LIMIT_EXEMPT: "none",
    TRUSTED_PROXIES: "127.0.0.1",
    RATE_LIMIT_READS_PER_MINUTE: String(limits.reads ?? 0),
    RATE_LIMIT_WRITES_PER_MINUTE: String(limits.writes ?? 0),
    ...more,
  };
  const gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment });
  onTestFinished(() => gateway.drain());
  for (const [at, query] of [oneFetch, threeFetches, mutation].entries())
    await gateway.send(query, by(`192.0.2.${100 + at}`));
  for (const { requests } of library.all) requests.length = 0;
  return gateway;
}

/** So that nothing is replenished, and no CPU time is measured. */
function stopTime(): void {
  vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
}

const fetchCount = () => library.all.flatMap(({ requests }) => requests).length;

test.each([{}, modern])("a request above the limit is a 429 before its body is read, with %j", async (headers) => {
  const { send, url } = await startLimited({ reads: 2, writes: 1 });
  stopTime();
  const operations = [oneFetch, oneFetch, mutation];
  for (const query of operations) expect((await send(query, { headers })).body.errors).toBeUndefined();
  const { status, body, headers: received } = await send(oneFetch, { headers });
  expect(status).toBe(429);
  expect(body).toEqual({
    errors: [
      {
        message: "The rate limit of requests is exceeded. Retry after 20 s.",
        extensions: { code: "RATE_LIMITED", retryAfterSeconds: 20 },
      },
    ],
  });
  expect(received.get("retry-after")).toBe("20");
  expect(received.get("ratelimit-policy")).toBe('"requests";q=3;w=60');
  expect(received.get("ratelimit")).toBe('"requests";r=0;t=60');
  const unread = await fetch(`${url}/graphql`, { method: "POST", headers, body: "not JSON" });
  expect(unread.status).toBe(429);
  expect(fetchCount()).toBe(3);
});

test("an operation weighs as many units as its plan has fetches, on both paths", async () => {
  const { send, tookFastPath } = await startLimited({ reads: 7 });
  stopTime();
  expect((await send(threeFetches)).body.data.people).toHaveLength(2);
  expect((await send(threeFetches)).body.data.people).toHaveLength(2);
  expect(tookFastPath()).toBe(true);
  const rejected = await send(threeFetches);
  expect(rejected.status).toBe(200);
  expect(rejected.body.errors[0].extensions).toMatchObject({ code: "RATE_LIMITED" });
  expect(fetchCount()).toBe(6);
});

test("an operation that is rejected after its document was read is 429 with application/graphql-response+json", async () => {
  const { send } = await startLimited({ reads: 4 });
  stopTime();
  await send(threeFetches);
  expect(await send(threeFetches, { headers: modern })).toMatchObject({ status: 429 });
});

test("an operation above the whole limit is too expensive, and the response has its weight", async () => {
  const { send } = await startLimited({ reads: 2 });
  const { status, body, headers } = await send(threeFetches, { headers: modern });
  expect(status).toBe(400);
  expect(body.errors[0].extensions).toEqual({ code: "OPERATION_TOO_EXPENSIVE", weight: 3, weightMax: 2 });
  expect(headers.get("retry-after")).toBeNull();
  expect(fetchCount()).toBe(0);
});

test("mutations are writes: used up reads do not block them, and used up writes do not block queries", async () => {
  const { send } = await startLimited({ reads: 1, writes: 2 });
  stopTime();
  await send(oneFetch);
  expect((await send(mutation)).body.data.rename).toEqual({ name: "Augusta" });
  expect((await send(mutation)).body.data.rename).toEqual({ name: "Augusta" });
  const other = await startLimited({ reads: 4, writes: 1 });
  await other.send(mutation);
  expect((await other.send(mutation)).body.errors[0].message).toContain("The rate limit of writes is exceeded.");
  expect((await other.send(oneFetch)).body.data.people).toHaveLength(2);
});

test("25 queries above the limit of reads leave all writes", async () => {
  const { send } = await startLimited({ reads: 1, writes: 25 });
  stopTime();
  await send(oneFetch);
  for (let sent = 0; sent < 25; sent++) {
    const { body, headers } = await send(oneFetch);
    expect(body.errors[0].message).toContain("The rate limit of reads is exceeded.");
    expect(headers.get("ratelimit")).toBe('"reads";r=0;t=60');
  }
  for (let sent = 0; sent < 25; sent++) expect((await send(mutation)).body.errors).toBeUndefined();
});

test("queries by GET are reads", async () => {
  const { url } = await startLimited({ reads: 1, writes: 5 });
  stopTime();
  const headers = { "apollo-require-preflight": "1", ...modern };
  const get = () => fetch(`${url}/graphql?query=${encodeURIComponent(oneFetch)}`, { headers });
  expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
});

test("requests that are rejected before they have an operation cost neither reads nor writes", async () => {
  const { send } = await startLimited({ reads: 20, writes: 20 });
  stopTime();
  for (let sent = 0; sent < 10; sent++) await send(oneFetch, { operationName: "Unknown" });
  for (let sent = 0; sent < 15; sent++) expect((await send(mutation)).body.errors).toBeUndefined();
  for (let sent = 0; sent < 15; sent++) expect((await send(oneFetch)).body.errors).toBeUndefined();
  expect((await send(oneFetch)).headers.get("ratelimit-policy")).toBe('"requests";q=40;w=60');
});

const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(" ");
/** The dearest documents within the limits, each different from the others. */
const dearest: readonly (readonly [name: string, document: (index: number) => string])[] = [
  ["a block string of 19,000 lines", (i) => `{ person(id: """${i}${"\n".repeat(19_000)}x""") { name } }`],
  ["a string with 19,000 escapes", (i) => `{ person(id: "${i}${"\\n".repeat(19_000)}") { name } }`],
  [
    "340 inline fragments with the same field",
    (i) => `{ people { a${i}: name ${many(340, () => "... on Person { name }")} } }`,
  ],
  ["1,500 unknown fields", (i) => `{ people { ${many(1_500, (field) => `x${i}y${field}`)} } }`],
  ["9,000 literals", (i) => `{ person(id: [${i} ${many(9, () => `[${"1 ".repeat(950)}]`)}]) { name } }`],
  [
    "too large an introspection",
    (i) =>
      `{ ${many(40, (field) => `s${i}x${field}: __schema { types { name fields { name type { name fields { name } } } } }`)} }`,
  ],
  [
    "49 operations in one",
    (i) => `{ ${many(49, (field) => `a${i}x${field}: people { name email books { title stars } }`)} }`,
  ],
];

test.each(dearest)(
  "%s, accepted or not, is debited: later requests of its caller are rejected, those of others are not",
  async (_, document) => {
    const { send } = await startLimited({ reads: 200, writes: 2 }, { INTROSPECTION_BYTES_MAX: "1000" });
    const rejected = (bodies: { readonly headers: Headers }[]) =>
      bodies.filter(({ headers }) => headers.get("ratelimit-policy")?.startsWith('"requests"'));
    const sent = [];
    // The quota of requests is 202: without debits, all of them would be admitted.
    for (let batch = 0; batch < 20 && rejected(sent).length === 0; batch++) {
      sent.push(...(await Promise.all(Array.from({ length: 10 }, (__, i) => send(document(batch * 10 + i), ada)))));
      expect((await send(oneFetch, grace)).body.data.people).toHaveLength(2);
    }
    expect(rejected(sent)).not.toEqual([]);
    expect((await send(oneFetch, grace)).body.errors).toBeUndefined();
  },
);

test.each(dearest.filter(([name]) => name === "too large an introspection" || name === "49 operations in one"))(
  "%s is debited also for the time of a planner's thread",
  async (_, document) => {
    const { send } = await startLimited({ reads: 3, writes: 3 });
    // The main thread measures no time.
    stopTime();
    await send(document(1), ada);
    expect((await send(oneFetch, ada)).headers.get("ratelimit-policy")).toBe('"requests";q=6;w=60');
    expect((await send(oneFetch, grace)).body.errors).toBeUndefined();
  },
);

test("the receipt of a large body is debited by its size", async () => {
  const { send } = await startLimited({ reads: 5, writes: 3 });
  const query = "query ($id: ID!) { person(id: $id) { name } }";
  await send(query, { ...warmUp, variables: { id: "1" } });
  stopTime();
  await send(query, { ...ada, variables: { id: "x".repeat(1_000_000) } });
  for (let left = 3; left > 0; left--) expect((await send(oneFetch, ada)).body.errors).toBeUndefined();
  expect((await send(oneFetch, ada)).status).toBe(429);
  expect((await send(oneFetch, grace)).body.errors).toBeUndefined();
});

test("a large result is debited from the reads of its caller", async () => {
  const { send } = await startLimited({ reads: 10, writes: 10 });
  const query = "query ($first: Int!) { list(first: $first) }";
  await send(query, { ...warmUp, variables: { first: 1 } });
  expect((await send(query, { ...ada, variables: { first: 300_000 } })).body.data.list).toHaveLength(300_000);
  expect((await send(oneFetch, ada)).body.errors[0].message).toContain("The rate limit of reads is exceeded.");
  expect((await send(mutation, ada)).body.errors).toBeUndefined();
  expect((await send(oneFetch, grace)).body.errors).toBeUndefined();
});
