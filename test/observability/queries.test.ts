import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type Exposition, seriesOf } from "./exposition.ts";
import { queries as queryTexts, recordings } from "./files.ts";
import { type KnownSeries, listKnownSeries, valuesOf } from "./known-series.ts";
import { matches, readQuery, type Selector, splitAlternatives } from "./promql.ts";
import { type RunningUnits, startUnits } from "./running-units.ts";

let issuer: TestIssuer;
let units: RunningUnits;
let known: ReadonlyMap<string, KnownSeries>;
/** Before the first request, and after requests that succeeded and failed in every way. */
let fresh: readonly Exposition[];
let used: readonly Exposition[];

beforeAll(async () => {
  issuer = await startTestIssuer();
  units = await startUnits({ postgresUrl: inject("postgresUrl"), issuer });
  fresh = await units.read();
  await makeTraffic();
  used = await units.read();
  known = listKnownSeries(used);
}, 120_000);
afterAll(async () => {
  await units?.stop();
  await issuer?.stop();
});

const queries = queryTexts.map(({ where, expr, labels }) => ({ where, labels, ...readQuery(expr) }));

test("every metric that is asked for is exported by a running process", () => {
  const unknown = queries.flatMap(({ where, selectors }) =>
    selectors.filter(({ metric }) => !known.has(metric)).map(({ metric }) => `${where}: ${metric}`),
  );
  expect(unknown).toEqual([]);
  expect(queries.length).toBeGreaterThan(100);
});

test("every metric that is asked for is counted by a running process, and not only announced", () => {
  const names = new Set(queries.flatMap(({ selectors }) => selectors.map(({ metric }) => metric)));
  const announced = [...names].filter((name) => known.get(name)?.isCounted !== true);
  expect(announced).toEqual([]);
});

test("every label that a query selects by is one of the metric's", () => {
  const wrong = queries.flatMap(({ where, selectors }) =>
    selectors.flatMap(({ metric, matchers }) =>
      matchers.filter(({ label }) => !has(metric, label)).map(({ label }) => `${where}: ${metric} has no ${label}`),
    ),
  );
  expect(wrong).toEqual([]);
});

test("every label that a query groups or joins by is one of each metric that it is about", () => {
  const wrong = queries.flatMap(({ where, groupings }) =>
    groupings.flatMap(({ isExcluding, labels, selectors }) => {
      const metrics = selectors.map(({ metric }) => metric);
      const isThere = (label: string) =>
        isExcluding ? metrics.some((metric) => has(metric, label)) : metrics.every((metric) => has(metric, label));
      return labels.filter((label) => !isThere(label)).map((label) => `${where}: ${label} of ${metrics.join()}`);
    }),
  );
  expect(wrong).toEqual([]);
});

test("every label that a legend or an alert's text names is one of the query's", () => {
  const wrong = queries.flatMap(({ where, labels, selectors }) =>
    labels.filter((label) => !selectors.some(({ metric }) => has(metric, label))).map((label) => `${where}: ${label}`),
  );
  expect(wrong).toEqual([]);
});

test("every value that a query selects by is one that the label has", () => {
  const wrong = queries.flatMap(({ where, selectors }) =>
    selectors.flatMap(({ metric, matchers }) =>
      matchers.flatMap((matcher) =>
        valuesOf(matcher)
          .filter((value) => known.get(metric)?.hasValue(matcher.label, value) !== true)
          .map((value) => `${where}: ${metric}{${matcher.label}="${value}"}`),
      ),
    ),
  );
  expect(wrong).toEqual([]);
});

test("every series of a counter or histogram that a query selects is exported before its first event", () => {
  const counted = new Set(
    fresh.flatMap(({ types }) =>
      [...types].filter(([, type]) => type !== "gauge").flatMap(([name, type]) => seriesOf(name, type)),
    ),
  );
  const selectors = queries
    .flatMap((query) => query.selectors.map((selector) => ({ where: query.where, ...selector })))
    .filter(({ metric }) => counted.has(metric));
  const missing = selectors.flatMap(({ where, ...selector }) =>
    splitAlternatives(selector)
      .filter((one) => samplesOf(fresh, one).length === 0)
      .map(({ metric, matchers }) => `${where}: ${metric} ${JSON.stringify(matchers)}`),
  );
  expect(missing).toEqual([]);
  expect(selectors.length).toBeGreaterThan(100);
});

test("what a recorded rule counts of a failure is an increase of a series that was exported at 0", () => {
  const recorded = recordings.flatMap(({ expr }) => readQuery(expr).selectors);
  const atStart = new Set(recorded.flatMap((selector) => samplesOf(fresh, selector)));
  const later = new Set(recorded.flatMap((selector) => samplesOf(used, selector)));
  expect([...later].filter((series) => !atStart.has(series))).toEqual([]);
  expect(later.size).toBeGreaterThan(100);
});

test("a fresh process exports at most 1,500 series", () => {
  for (const { samples } of fresh) expect(samples.length).toBeLessThanOrEqual(1_500);
});

/** Names and labels of the series that a selector finds. */
function samplesOf(expositions: readonly Exposition[], selector: Selector): readonly string[] {
  return expositions.flatMap(({ samples }) =>
    samples.filter((sample) => matches(selector, sample)).map(({ name, labels }) => name + JSON.stringify(labels)),
  );
}

const has = (metric: string, label: string) => known.get(metric)?.labels.has(label) ?? false;

/** Whatever there is to be counted: answers, refusals, and every way in which a service can fail. */
async function makeTraffic(): Promise<void> {
  const token = await issuer.token("1", ["users:write:all"]);
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}`, "x-client-name": "web" };
  const post = (url: string, body: unknown) => send(url, { method: "POST", headers, body: JSON.stringify(body) });
  await post(`${units.usersUrl}/rest/v1/users`, { name: "Ada", email: "ada@example.org" });
  await post(`${units.usersUrl}/graphql`, { query: "{ nothing }" });
  const graphql = (query: string) => post(`${units.gatewayUrl}/graphql`, { query });
  const fields = [
    "users { nodes { name } }",
    "users { nodes { comments { id } } }",
    "posts { nodes { title } }",
    "products { nodes { sku } }",
  ];
  for (const query of [...fields.map((field) => `query Known { ${field} }`), "{ users {", "{ nothing }"])
    await graphql(query);
  const rest = (path: string) => send(`${units.restUrl}${path}`, { headers: { "x-client-name": "web" } });
  for (const path of [
    "/v1/users",
    "/v1/users",
    "/v2/users",
    "/v1/posts",
    "/v1/products",
    "/v1/nothing",
    "/v1/users?odd=1",
  ])
    await rest(path);
  // What is not to be stored is passed on as it comes, and so breaks off in the middle.
  await expect(post(`${units.restUrl}/v1/comments`, { postId: "1", body: "Yes." })).rejects.toThrow();
  await leave(`${units.restUrl}/v1/comments/1`, { method: "DELETE", headers });
  // One of two replicas of users is silent: five failures of it in a row, and it is left out.
  for (let index = 0; index < 30; index++) {
    await graphql(`query Users { users(first: ${index + 1}) { nodes { name } } }`);
    await rest(`/v1/users?limit=${index + 1}`);
  }
  await post(`${units.restUrl}/v1/users`, { name: "Grace", email: "grace@example.org" });
}

/** A client that has no more patience once its request is with the service. */
async function leave(url: string, o: RequestInit): Promise<void> {
  const leaving = new AbortController();
  const waiting = units.keepsWaiting();
  const answer = fetch(url, { ...o, signal: leaving.signal });
  await Promise.race([waiting, answer]);
  leaving.abort();
  await expect(answer).rejects.toThrow();
}

async function send(url: string, o: RequestInit): Promise<void> {
  await (await fetch(url, o)).text();
}
