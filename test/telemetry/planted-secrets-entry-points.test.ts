import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type FakeCollector, startCollector } from "./collector.ts";
import { type ObservedProcess, startObservedEntryPoint, startObservedService } from "./observed-process.ts";

type EntryPoint = Omit<ObservedProcess, "query">;

let issuer: TestIssuer;
let collector: FakeCollector;
/** The only service that runs. The others are down, so that failures are logged, too. */
let users: ObservedProcess;
beforeAll(async () => {
  [issuer, collector] = await Promise.all([startTestIssuer(), startCollector()]);
  users = await startObservedService("users", {
    postgresUrl: inject("postgresUrl"),
    issuer,
    collectorUrl: collector.url,
  });
});
afterAll(async () => {
  await users.stop();
  await Promise.all([issuer.stop(), collector.stop()]);
});

/** Part of every planted secret, and of no other text. */
const mark = `plum${randomBytes(6).toString("hex")}`;
const email = `${mark}@example.com`;
const closedAddress = "http://127.0.0.1:9";

const headersWithSecrets = {
  cookie: `session=${mark}`,
  "x-api-key": mark,
  "x-request-id": email,
  traceparent: `00-${mark}`,
  tracestate: `vendor=${mark}`,
  baggage: `user=${mark}`,
  "user-agent": mark,
  "x-client-name": mark,
  "apollographql-client-name": mark,
  "apollographql-client-version": mark,
  "x-forwarded-for": mark,
  referer: `http://${mark}`,
};

test("the gateway's logs, metrics and traces contain no data of its clients", async () => {
  const services = ["POSTS", "COMMENTS", "ORDERS"].map((name) => [`SUBGRAPH_URL_${name}`, `${closedAddress}/graphql`]);
  const gateway = await startObservedEntryPoint("gateway", collector.url, {
    SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
    SUBGRAPH_URL_USERS: `${users.url}/graphql`,
    ...Object.fromEntries(services),
  });
  const token = await issuer.token("1", ["users:write:all", "users:read:private"], { email });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const post = (body: unknown, more: Readonly<Record<string, string>> = {}): Request => [
    "/graphql",
    { method: "POST", headers: { ...headers, ...more }, body },
  ];
  const create = "mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id name email } } }";
  const search = "query ($text: String) { users(search: $text) { nodes { name email orders { nodes { id } } } } }";
  await plant(gateway, [
    post({ query: create, variables: { input: { name: mark, email } } }),
    post({ query: search, variables: { text: mark } }, headersWithSecrets),
    post({ query: search, variables: { text: mark } }, headersWithSecrets),
    // The name of a validated operation is logged.
    post({ query: `query Search { ${mark}: users(search: "${mark}") { nodes { id } } }`, operationName: "Search" }),
    post({ query: `query ${mark} { users { nodes { id } } }`, operationName: `${mark}other` }),
    post({ query: `{ product(sku: "${mark}") { title } posts { nodes { id } } }` }),
    post({ query: `{ ${mark} }`, variables: { password: mark }, extensions: { token: mark } }),
    post({ query: "query ($n: Int!) { users(first: $n) { nodes { id } } }", variables: { n: email } }),
    post({ query: `{ users(first: "${mark}") { nodes { id } } ` }),
    post(`{"query": ${mark}`),
    post({ query: "{ me { name } }" }, { authorization: `Bearer ${mark}.${mark}.${mark}` }),
    post({ query: "{ me { name } }" }, { "content-type": `text/${mark}` }),
    [`/graphql?query={__typename}&variables={"a":"${mark}"}`, { headers: { "apollo-require-preflight": mark } }],
    [`/${mark}?${mark}=${email}`, { headers: headersWithSecrets }],
  ]);
  await expectNoSecrets(gateway, [mark, token], "tributary_gateway_requests_total{");
});

test("the REST proxy's logs, metrics and traces contain no data of its clients", async () => {
  const proxy = await startObservedEntryPoint("rest-proxy", collector.url, {
    USERS_URL: users.url,
    POSTS_URL: closedAddress,
    COMMENTS_URL: closedAddress,
    ORDERS_URL: closedAddress,
  });
  const token = await issuer.token("1", ["users:write:all", "users:read:private"], { email });
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const withBody = { method: "POST", headers, body: { name: mark, email } };
  await plant(proxy, [
    ["/v1/users", withBody],
    ["/v2/users", { ...withBody, body: `{"password": "${mark}", ` }],
    ["/v2/users", { ...withBody, headers: { ...headers, "content-type": `text/${mark}` } }],
    ["/v1/users/1", { method: "PATCH", headers: { ...headers, "idempotency-key": mark }, body: { name: mark } }],
    [`/v1/users?search=${mark}`, { headers: headersWithSecrets }],
    [`/v1/users?search=${mark}`, { headers: { authorization: `Bearer ${token}`, "if-none-match": `"${mark}"` } }],
    [`/users?search=${mark}`, { headers: { accept: `application/${mark}` } }],
    [`/v1/users?${mark}=${email}`, {}],
    [`/v1/users?cursor=${mark}`, {}],
    [`/v1/posts?search=${mark}`, { headers: headersWithSecrets }],
    [`/v2/products?search=${mark}`, { headers: { authorization: `Bearer ${mark}` } }],
    ["/v2/orders", { ...withBody, headers: { ...headers, "idempotency-key": mark } }],
    [`/v1/users?search=${mark}`, { method: "PUT", headers, body: mark }],
  ]);
  await expectNoSecrets(proxy, [mark, token], "tributary_rest_requests_total{");
});

type Request = readonly [path: string, options: SendOptions];

interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function plant({ url }: EntryPoint, requests: readonly Request[]): Promise<void> {
  for (const [path, { body, ...o }] of requests) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${url}${path}`, { ...o, ...(body === undefined ? {} : { body: text }) });
    await response.text();
  }
}

/** @param counted a series that `/metrics` has after the requests: it proves that they were processed and recorded. */
async function expectNoSecrets(entryPoint: EntryPoint, secrets: readonly string[], counted: string): Promise<void> {
  const metrics = await (await fetch(`${entryPoint.adminUrl}/metrics`)).text();
  expect(await entryPoint.stop()).toBe(0);
  expect(metrics).toContain(counted);
  expect(entryPoint.written().match(/"msg":"request completed"/g)?.length ?? 0).toBeGreaterThan(5);
  expect(collector.received().filter((text) => text.includes("http.response.status_code"))).not.toEqual([]);
  for (const secret of secrets) {
    expect(
      entryPoint
        .written()
        .split("\n")
        .filter((line) => line.includes(secret)),
    ).toEqual([]);
    expect(metrics.split("\n").filter((line) => line.includes(secret))).toEqual([]);
    expect(collector.received().filter((text) => text.includes(secret))).toEqual([]);
    expect(
      users
        .written()
        .split("\n")
        .filter((line) => line.includes(secret)),
    ).toEqual([]);
  }
}
