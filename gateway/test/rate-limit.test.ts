import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
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

async function startLimited(limits: { readonly reads?: number; readonly writes?: number }): Promise<RunningGateway> {
  const environment = {
    RATE_LIMIT_EXEMPT: "none",
    RATE_LIMIT_READS_PER_MINUTE: String(limits.reads ?? 0),
    RATE_LIMIT_WRITES_PER_MINUTE: String(limits.writes ?? 0),
  };
  const gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment });
  onTestFinished(() => gateway.drain());
  return gateway;
}

const fetchCount = () => library.all.flatMap(({ requests }) => requests).length;

test.each([{}, modern])("a request above the limit is a 429 before its body is read, with %j", async (headers) => {
  const { send, url } = await startLimited({ reads: 2, writes: 1 });
  // The third is charged as a write on arrival, and rejected as a query.
  for (let count = 0; count < 3; count++) await send(oneFetch, { headers });
  const { status, body, headers: received } = await send(oneFetch, { headers });
  expect(status).toBe(429);
  expect(body).toEqual({
    errors: [
      {
        message: "The rate limit of reads is exceeded. Retry after 30 s.",
        extensions: { code: "RATE_LIMITED", retryAfterSeconds: 30 },
      },
    ],
  });
  expect(received.get("retry-after")).toBe("30");
  expect(received.get("ratelimit-policy")).toBe('"reads";q=2;w=60');
  expect(received.get("ratelimit")).toBe('"reads";r=0;t=60');
  const unread = await fetch(`${url}/graphql`, { method: "POST", headers, body: "not JSON" });
  expect(unread.status).toBe(429);
  expect(fetchCount()).toBe(2);
});

test("an operation weighs as many units as its plan has fetches, on both paths", async () => {
  const { send, tookFastPath } = await startLimited({ reads: 7 });
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
  await send(oneFetch);
  expect((await send(mutation)).body.data.rename).toEqual({ name: "Augusta" });
  expect((await send(mutation)).body.data.rename).toEqual({ name: "Augusta" });
  expect((await send(mutation)).body.errors[0].extensions.code).toBe("RATE_LIMITED");
  const other = await startLimited({ reads: 4, writes: 1 });
  await other.send(mutation);
  expect((await other.send(mutation)).body.errors[0].message).toContain("The rate limit of writes is exceeded.");
  expect((await other.send(oneFetch)).body.data.people).toHaveLength(2);
});

test("queries by GET are reads", async () => {
  const { url } = await startLimited({ reads: 1, writes: 5 });
  const get = () =>
    fetch(`${url}/graphql?query=${encodeURIComponent(oneFetch)}`, { headers: { "apollo-require-preflight": "1" } });
  expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
});

test("a rejected document costs a unit for each millisecond of CPU time that it takes", async () => {
  const { send } = await startLimited({ reads: 20, writes: 20 });
  const unknownFields = (prefix: string) =>
    `{ people { ${Array.from({ length: 1_500 }, (_, index) => `${prefix}${index}`).join(" ")} } }`;
  const codes = [];
  for (let sent = 0; sent < 20; sent++)
    codes.push((await send(unknownFields(`f${sent}x`))).body.errors[0].extensions.code);
  expect(codes[0]).toBe("GRAPHQL_VALIDATION_FAILED");
  expect(codes.at(-1)).toBe("RATE_LIMITED");
  const known = await startLimited({ reads: 20, writes: 20 });
  for (let sent = 0; sent < 20; sent++) expect((await known.send(oneFetch)).body.errors).toBeUndefined();
});
