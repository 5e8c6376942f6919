import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type Exposition, readExposition, seriesOf } from "./exposition.ts";
import { queries as queryTexts, recordings } from "./files.ts";
import { type KnownSeries, listKnownSeries, valuesToCheck } from "./known-series.ts";
import { driveOutage, isRatioOf } from "./outage.ts";
import { matches, readQuery, type Selector, splitAlternatives } from "./promql.ts";
import { type RunningUnits, startUnits } from "./running-units.ts";
import { serviceNames } from "../services.ts";

let issuer: TestIssuer;
let units: RunningUnits;
let known: ReadonlyMap<string, KnownSeries>;
/** Metrics before the first request, and after requests with every kind of success and failure. */
let fresh: readonly Exposition[];
let used: readonly Exposition[];
/** What clients measured during a short outage of comments, and the metrics after it. */
let measured: Awaited<ReturnType<typeof driveOutage>>;
let afterOutage: readonly Exposition[];

beforeAll(async () => {
  issuer = await startTestIssuer();
  units = await startUnits({ postgresUrl: inject("postgresUrl"), issuer });
  fresh = await units.read();
  measured = await driveOutage({
    graphqlUrl: units.gatewayUrl,
    restUrl: units.restUrl,
    setFailing: (isFailing) => units.setComments(isFailing ? "failing" : "healthy"),
  });
  afterOutage = await units.read();
  units.setComments("broken");
  await makeTraffic();
  used = await units.read();
  known = listKnownSeries(used);
});
afterAll(async () => {
  await units?.stop();
  await issuer?.stop();
});

const queries = queryTexts.map(({ where, expr, labels }) => ({ where, labels, ...readQuery(expr) }));

test.each(["sum(rate(a[5m])", "rat(a[5m])", "a{job=x}", "rate(a[5 fathoms])"])("%j is not PromQL", (text) => {
  expect(() => readQuery(text)).toThrow("not PromQL");
});

test("every metric in a query is exported by a running process", () => {
  const unknown = queries.flatMap(({ where, selectors }) =>
    selectors.filter(({ metric }) => !known.has(metric)).map(({ metric }) => `${where}: ${metric}`),
  );
  expect(unknown).toEqual([]);
  expect(queries.length).toBeGreaterThan(100);
});

test("every metric in a query has a sample of a running process, not only a TYPE line", () => {
  const names = new Set(queries.flatMap(({ selectors }) => selectors.map(({ metric }) => metric)));
  const withoutSample = [...names].filter((name) => known.get(name)?.isCounted !== true);
  expect(withoutSample).toEqual([]);
});

test("every label in a matcher is a label of the metric", () => {
  const violations = queries.flatMap(({ where, selectors }) =>
    selectors.flatMap(({ metric, matchers }) =>
      matchers.filter(({ label }) => !has(metric, label)).map(({ label }) => `${where}: ${metric} has no ${label}`),
    ),
  );
  expect(violations).toEqual([]);
});

test("every label that a query groups or joins by is a label of each of its metrics", () => {
  const violations = queries.flatMap(({ where, groupings }) =>
    groupings.flatMap(({ isExcluding, labels, selectors }) => {
      const metrics = selectors.map(({ metric }) => metric);
      const exists = (label: string) =>
        isExcluding ? metrics.some((metric) => has(metric, label)) : metrics.every((metric) => has(metric, label));
      return labels.filter((label) => !exists(label)).map((label) => `${where}: ${label} of ${metrics.join()}`);
    }),
  );
  expect(violations).toEqual([]);
});

test("every label in a legend or an annotation is a label of the query", () => {
  const violations = queries.flatMap(({ where, labels, selectors }) =>
    labels.filter((label) => !selectors.some(({ metric }) => has(metric, label))).map((label) => `${where}: ${label}`),
  );
  expect(violations).toEqual([]);
});

test("every value in a matcher is a value of the label", () => {
  const violations = queries.flatMap(({ where, selectors }) =>
    selectors.flatMap(({ metric, matchers }) =>
      matchers.flatMap((matcher) =>
        valuesToCheck(matcher)
          .filter((value) => known.get(metric)?.hasValue(matcher.label, value) !== true)
          .map((value) => `${where}: ${metric}{${matcher.label}="${value}"}`),
      ),
    ),
  );
  expect(violations).toEqual([]);
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

test("every series that a recording rule reads is exported before its first event, so that the event is an increase", () => {
  const recorded = recordings.flatMap(({ expr }) => readQuery(expr).selectors);
  const atStart = new Set(recorded.flatMap((selector) => samplesOf(fresh, selector)));
  const later = new Set(recorded.flatMap((selector) => samplesOf(used, selector)));
  expect([...later].filter((series) => !atStart.has(series))).toEqual([]);
  expect(later.size).toBeGreaterThan(100);
});

test("every rejection that the gateway counts is exported before the first one, with each status that it can have", () => {
  const metric = "tributary_gateway_rejected_total";
  const statusesOf = (code: string) =>
    fresh
      .flatMap(({ samples }) => samples.filter(({ name, labels }) => name === metric && labels["code"] === code))
      .map(({ labels }) => labels["status"]);
  expect(statusesOf("OVERLOADED")).toEqual(["200", "503"]);
  expect(statusesOf("GRAPHQL_PARSE_FAILED")).toEqual(["200", "400"]);
  expect(statusesOf("UNAUTHENTICATED")).toEqual(["401"]);
  expect(statusesOf("SUBGRAPH_TIMEOUT")).toEqual([]);
  expect(samplesOf(used, { metric, matchers: [] })).toEqual(samplesOf(fresh, { metric, matchers: [] }));
});

test("the gateway, the REST proxy and a service count the requests that they admit by class", () => {
  const samples = used.flatMap((exposition) => exposition.samples);
  const countOf = (endpoint: string, one: string) =>
    samples
      .filter(({ name }) => name === "tributary_admission_admitted_total")
      .filter(({ labels }) => labels["endpoint"] === endpoint && labels["class"] === one)
      .reduce((sum, { value }) => sum + value, 0);
  for (const endpoint of ["graphql", "rest", "service"]) expect(countOf(endpoint, "normal")).toBeGreaterThan(0);
  // Writes: two users, one comment, and one that is deleted.
  expect(countOf("rest", "critical")).toBe(3);
  expect(countOf("service", "critical")).toBe(2);
  expect(countOf("graphql", "critical")).toBe(0);
});

test("the gateway, the REST proxy and the purger export whether they follow the feed of each service that has one", () => {
  const feeds = used.map(({ samples }) =>
    Object.fromEntries(
      samples
        .filter(({ name }) => name === "tributary_feed_up")
        .map(({ labels, value }) => [labels["service"] ?? "", value]),
    ),
  );
  const followed = serviceNames.filter((name) => name !== "orders").map((name) => [name, name === "users" ? 1 : 0]);
  expect(feeds).toEqual([{}, { users: 1 }, Object.fromEntries(followed), { users: 1 }]);
});

test("a fresh process exports at most 1,500 series with four services, and 200 more with each further one", () => {
  const most = 700 + 200 * serviceNames.length;
  for (const { samples } of fresh) expect(samples.length).toBeLessThanOrEqual(most);
});

/** One scrape before the outage and one after it, as a short outage falls between two scrapes. */
test("after a short outage of new processes the recorded error ratios equal those that clients measured", () => {
  const completeness = evaluateRatio("gateway", "completeness");
  const availability = evaluateRatio("rest-proxy", "availability");
  const numbers = JSON.stringify({ measured, completeness, availability });
  expect(Math.min(measured.graphql.failed, measured.rest.failed), numbers).toBeGreaterThan(20);
  expect(isRatioOf(completeness, measured.graphql), numbers).toBe(true);
  expect(isRatioOf(availability, measured.rest), numbers).toBe(true);
  expect(evaluateRatio("gateway", "availability"), numbers).toBe(0);
});

test("every rejection because a process is overloaded counts once against its availability, whatever its status", () => {
  const scrape = (overloaded: number) => [
    readExposition(`
tributary_gateway_request_duration_seconds_count{path="fast"} ${10 * overloaded}
tributary_gateway_requests_total{path="fast",client="web",status="200"} ${8 * overloaded}
tributary_gateway_requests_total{path="fast",client="web",status="503"} ${2 * overloaded}
tributary_gateway_rejected_total{code="OVERLOADED",status="200"} ${overloaded}
tributary_gateway_rejected_total{code="OVERLOADED",status="503"} ${2 * overloaded}
tributary_gateway_rejected_total{code="RATE_LIMITED",status="200"} ${overloaded}
tributary_admission_rejections_total{endpoint="graphql",class="normal"} ${3 * overloaded}
tributary_admission_rejections_total{endpoint="graphql",class="unread"} ${10 * overloaded}
tributary_rest_request_duration_seconds_count{route="/users",version="2"} ${10 * overloaded}
tributary_rest_requests_total{route="/users",version="2",method="GET",status="503"} ${2 * overloaded}
tributary_admission_rejections_total{endpoint="rest",class="normal"} ${2 * overloaded}
tributary_admission_rejections_total{endpoint="rest",class="unread"} ${10 * overloaded}
`),
  ];
  expect(evaluateRatio("gateway", "availability", scrape(0), scrape(7))).toBe((1 + 2 + 10) / (10 + 10));
  expect(evaluateRatio("rest-proxy", "availability", scrape(0), scrape(7))).toBe((2 + 10) / (10 + 10));
});

/** Evaluates the recording rule of a service level: a ratio of two sums over the series of all their selectors. */
function evaluateRatio(unit: string, level: string, first = fresh, last = afterOutage): number {
  const rule = recordings.find(
    ({ record, labels }) =>
      record.endsWith("error:ratio_rate5m") && labels?.["endpoint"] === unit && labels["level"] === level,
  );
  const [failed = 0, all = 0, ...rest] = (rule?.expr ?? "").split("/").map((sum) => {
    expect(sum.trim()).toMatch(/^sum\([^]*\)$/);
    return readQuery(sum).selectors.reduce((total, selector) => total + sumIncreases(selector, first, last), 0);
  });
  expect(rest).toEqual([]);
  return failed / all;
}

/** Computes the increase as Prometheus does: a series that is missing from the first scrape has not increased. */
function sumIncreases(selector: Selector, first: readonly Exposition[], last: readonly Exposition[]): number {
  const read = (expositions: readonly Exposition[]) =>
    new Map(
      expositions
        .flatMap(({ samples }) => samples.filter((sample) => matches(selector, sample)))
        .map(({ labels, value }) => [JSON.stringify(labels), value]),
    );
  const before = read(first);
  return [...read(last)].reduce((sum, [series, value]) => sum + value - (before.get(series) ?? value), 0);
}

/** The names and labels of the series that a selector matches. */
function samplesOf(expositions: readonly Exposition[], selector: Selector): readonly string[] {
  return expositions.flatMap(({ samples }) =>
    samples.filter((sample) => matches(selector, sample)).map(({ name, labels }) => name + JSON.stringify(labels)),
  );
}

const has = (metric: string, label: string) => known.get(metric)?.labels.has(label) ?? false;

/** Sends requests that succeed, are rejected, and fail with every kind of service failure. */
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
  // An uncacheable response is streamed, so the client receives an incomplete body.
  await expect(post(`${units.restUrl}/v1/comments`, { postId: "1", body: "Yes." })).rejects.toThrow();
  await sendAndAbort(`${units.restUrl}/v1/comments/1`, { method: "DELETE", headers });
  // One of the two replicas of users is unreachable: it is ejected after five consecutive failures.
  for (let index = 0; index < 30; index++) {
    await graphql(`query Users { users(first: ${index + 1}) { nodes { name } } }`);
    await rest(`/v1/users?limit=${index + 1}`);
  }
  await post(`${units.restUrl}/v1/users`, { name: "Grace", email: "grace@example.org" });
}

/** Sends a request and aborts it when the service has received it. */
async function sendAndAbort(url: string, o: RequestInit): Promise<void> {
  const abortController = new AbortController();
  const received = units.ignoredRequest();
  const response = fetch(url, { ...o, signal: abortController.signal });
  await Promise.race([received, response]);
  abortController.abort();
  await expect(response).rejects.toThrow();
}

async function send(url: string, o: RequestInit): Promise<void> {
  await (await fetch(url, o)).text();
}
