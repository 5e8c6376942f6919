import { randomBytes } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type FakeCollector, startCollector } from "./collector.ts";
import { serviceNames } from "../services.ts";
import { type ObservedProcess, startObservedEntryPoint, startObservedService } from "./observed-process.ts";

/** Part of every planted secret, and of no other text. */
const mark = `plum${randomBytes(6).toString("hex")}`;
const email = `${mark}@example.com`;
const closedAddress = "http://127.0.0.1:9";
const json = { "content-type": "application/json" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
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
  "if-none-match": `"${mark}"`,
  "x-forwarded-for": mark,
  referer: `http://${mark}`,
};

let issuer: TestIssuer;
let collector: FakeCollector;
let services: Readonly<Record<string, ObservedProcess>>;
/** A subgraph whose responses contain data that must not be logged. */
let subgraph: Server;
let respond: (response: ServerResponse) => void;
beforeAll(async () => {
  [issuer, collector] = await Promise.all([startTestIssuer(), startCollector()]);
  const o = { postgresUrl: inject("postgresUrl"), issuer, collectorUrl: collector.url };
  const started = serviceNames.map(async (name) => [name, await startObservedService(name, o)] as const);
  services = Object.fromEntries(await Promise.all(started));
  subgraph = createServer((request, response) => void request.resume().once("end", () => respond(response)));
  await new Promise<void>((resolve) => subgraph.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  subgraph.closeAllConnections();
  subgraph.close();
  await Promise.all([...Object.values(services), issuer, collector].map((one) => one.stop()));
});

const subgraphError = {
  message: `duplicate key: (name)=(${mark})`,
  path: [mark, 0, "name"],
  locations: [{ line: 1, column: 1, [mark]: mark }],
  extensions: { code: mark, [mark]: mark, stacktrace: [mark], problems: [{ pointer: mark, detail: mark }] },
  [mark]: mark,
};
const developerError = { message: `No stock for ${email}`, path: ["product"], extensions: { code: "UNKNOWN" } };
const product = 'product(sku: "a") { stock }';
/** The log contains the first failed fetch of each subgraph, so the second one is of another subgraph. */
const invalidResponses: readonly (readonly [field: string, respond: (response: ServerResponse) => void])[] = [
  [
    product,
    (response) =>
      response
        .writeHead(500, { "content-type": `text/html; charset="${mark}"`, "x-secret": mark })
        .end(`<h1>${mark}</h1>`),
  ],
  ["comment(id: 1) { body }", (response) => response.writeHead(200, json).end(`{"data": {"comment": "${mark}`)],
  [product, (response) => response.writeHead(200, json).end(JSON.stringify({ data: null, errors: [subgraphError] }))],
  [product, (response) => response.writeHead(200, json).end(JSON.stringify({ data: { [mark]: { stock: mark } } }))],
];

test("the gateway's logs, metrics and traces contain no data of its clients or of subgraph responses", async () => {
  // Only users runs. The other services are down or respond incorrectly, so that failures are logged, too.
  const gateway = await startObservedEntryPoint("gateway", collector.url, {
    SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
    SETTINGS_FILE: "supergraph/gateway.yaml",
    SUBGRAPH_URL_USERS: `${services["users"]!.url}/graphql`,
    SUBGRAPH_URL_POSTS: `${closedAddress}/graphql`,
    SUBGRAPH_URL_COMMENTS: `http://127.0.0.1:${(subgraph.address() as AddressInfo).port}/graphql`,
    SUBGRAPH_URL_ORDERS: `http://127.0.0.1:${(subgraph.address() as AddressInfo).port}/graphql`,
  });
  for (const [field, invalid] of invalidResponses) {
    respond = invalid;
    const body = { query: `{ ${mark}: ${field} }` };
    await plant(gateway, [["/graphql", { method: "POST", headers: json, body }]]);
  }
  const observations = gateway
    .written()
    .split("\n")
    .filter((line) => /"observation":"(?:subgraph|values)-/.test(line))
    .map((line) => JSON.parse(line) as object);
  expect(observations).toMatchObject([
    {
      observation: "subgraph-fetch-failed",
      code: "SUBGRAPH_INVALID_RESPONSE",
      response: { defect: "no JSON object", status: 500, contentType: "text/html" },
    },
    {
      observation: "subgraph-fetch-failed",
      code: "SUBGRAPH_INVALID_RESPONSE",
      response: { defect: "no JSON object", contentType: "application/json" },
    },
    {
      observation: "subgraph-errors",
      errors: [{ code: "other", path: "*.0.name", messageCharacters: subgraphError.message.length }],
    },
    { observation: "values-rejected", problems: [{ path: "*" }] },
  ]);

  respond = (response) => response.destroy();
  const token = await issuer.token("1", ["users:write:all", "users:read:private"], { email });
  const post = (body: unknown, more: Readonly<Record<string, string>> = {}): Request => [
    "/graphql",
    { method: "POST", headers: { ...json, ...bearer(token), ...more }, body },
  ];
  const create = "mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id name email } } }";
  const search = "query ($text: String) { users(search: $text) { nodes { name email orders { id } } } }";
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
    post({ query: "{ me { name } }" }, bearer(`${mark}.${mark}.${mark}`)),
    post({ query: "{ me { name } }" }, { "content-type": `text/${mark}` }),
    [`/graphql?query={__typename}&variables={"a":"${mark}"}`, { headers: { "apollo-require-preflight": mark } }],
    [`/${mark}?${mark}=${email}`, { headers: headersWithSecrets }],
  ]);
  respond = (response) => response.writeHead(200, json).end(JSON.stringify({ data: null, errors: [developerError] }));
  const explained = [
    await readExtensions(gateway, post({ query: search, variables: { text: mark } })),
    await readExtensions(gateway, post({ query: create, variables: { input: { name: mark, email } } })),
    await readExtensions(gateway, post({ query: `{ users(search: "${mark}") { nodes { email } } }` })),
    await readExtensions(
      gateway,
      post({ query: `mutation { createUser(input: { name: "${mark}", email: "${email}" }) { user { id } } }` }),
    ),
    await readExtensions(
      gateway,
      post({ query: "query ($sku: ID!) { product(sku: $sku) { stock } }", variables: { sku: mark } }),
    ),
  ].join();
  expect(explained).toMatch(/"queryPlan"[^]*"cause":\{"message":"No stock for <email>"/);
  expectNoSecretsIn(explained, [mark, token]);
  await expectNoSecretsForDevelopers(gateway, [mark, token]);
  await expectNoSecrets(gateway, [mark, token], "tributary_gateway_requests_total{");
  expectNoSecretsIn(services["users"]!.written(), [mark, token]);
});

test("the REST proxy's logs, metrics and traces contain no data of its clients", async () => {
  const proxy = await startObservedEntryPoint("rest-proxy", collector.url, {
    USERS_URL: services["users"]!.url,
    POSTS_URL: closedAddress,
    COMMENTS_URL: closedAddress,
    ORDERS_URL: closedAddress,
  });
  const token = await issuer.token("1", ["users:write:all", "users:read:private"], { email });
  const headers = { ...json, ...bearer(token) };
  const withBody = { method: "POST", headers, body: { name: mark, email } };
  await plant(proxy, [
    ["/v1/users", withBody],
    ["/v2/users", { ...withBody, body: `{"password": "${mark}", ` }],
    ["/v2/users", { ...withBody, headers: { ...headers, "content-type": `text/${mark}` } }],
    ["/v1/users/1", { method: "PATCH", headers: { ...headers, "idempotency-key": mark }, body: { name: mark } }],
    [`/v1/users?search=${mark}`, { headers: headersWithSecrets }],
    [`/v1/users?search=${mark}`, { headers: { ...bearer(token), "if-none-match": `"${mark}"` } }],
    [`/users?search=${mark}`, { headers: { accept: `application/${mark}` } }],
    [`/v1/users?${mark}=${email}`, {}],
    [`/v1/users?cursor=${mark}`, {}],
    [`/v1/posts?search=${mark}`, { headers: headersWithSecrets }],
    [`/v2/products?search=${mark}`, { headers: bearer(mark) }],
    ["/v2/orders", { ...withBody, headers: { ...headers, "idempotency-key": mark } }],
    [`/v1/users?search=${mark}`, { method: "PUT", headers, body: mark }],
  ]);
  await expectNoSecretsForDevelopers(proxy, [mark, token]);
  await expectNoSecrets(proxy, [mark, token], "tributary_rest_requests_total{");
  expectNoSecretsIn(services["users"]!.written(), [mark, token]);
});

test("the logs of a service contain no row data from database errors", async () => {
  const users = services["users"]!;
  const headers = { ...json, ...bearer(await issuer.token("1", ["users:write:all"])) };
  const body = { name: mark, email: `rows-${email}` };
  const create = () => plant(users, [["/rest/v1/users", { method: "POST", headers, body }]]);
  await users.query(`create function raise_row() returns trigger language plpgsql as
    $$ begin raise exception 'rejected row %', new using detail = new.email; end $$`);
  await users.query("create trigger raise_row before insert on users for each row execute function raise_row()");
  expect(await create()).toEqual([500]);
  await users.query("drop trigger raise_row on users");
  await users.query("delete from users");
  await users.query(
    "alter table users add column code int generated always as (length(name) / (length(name) - 16)) stored",
  );
  expect(await create()).toEqual([500]);
  await users.query("alter table users drop column code");
  expect(users.written()).toContain("raised by a database function");
  expect(users.written()).toContain("division by zero");
  expectNoSecretsIn(users.written(), [mark]);
});

test.each([
  ["users", "users", "users { nodes { id } }", { name: mark, email }],
  ["posts", "posts", "posts { nodes { id } }", { title: mark, body: mark, authorId: "1" }],
  ["comments", "posts/1/comments", "comment(id: 1) { id }", { body: mark }],
  ["orders", "products", "products { nodes { sku } }", { lines: [{ sku: mark, qty: 1 }] }],
])("the logs, metrics and traces of %s contain no data of its clients", async (name, collection, field, body) => {
  const service = services[name]!;
  const token = await issuer.token("1", ["users:write:all", "posts:write", "comments:write", "orders:write"], {
    email,
  });
  const statuses = await plant(service, listServiceRequests({ collection, field, body, token }));
  expect(new Set(statuses)).toContain(200);
  await expectNoSecrets(service, [mark, token, token.split(".")[2] ?? ""], "tributary_service_requests_total{");
  expect(service.written().match(/"msg":"request completed"/g)?.length).toBeGreaterThanOrEqual(statuses.length);
  const traced = collector.received().filter((text) => text.includes(name));
  expect(traced.join()).toContain("db.query.summary");
});

type Request = readonly [path: string, options: SendOptions];

interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What only a developer's client and browser get: with `x-query-plan`, and the pages of development. */
async function expectNoSecretsForDevelopers({ url }: Pick<ObservedProcess, "url">, secrets: readonly string[]) {
  for (const path of ["/", "/owners", "/docs", "/docs/changes", "/health/status", "/graphiql/config.json"]) {
    const page = await (await fetch(url + path, { headers: { accept: "text/html, */*;q=0.5" } })).text();
    expectNoSecretsIn(page, secrets);
  }
}

/** @returns the `extensions` of the result and of its errors. */
async function readExtensions({ url }: Pick<ObservedProcess, "url">, [path, { body, ...o }]: Request): Promise<string> {
  const headers = { ...o.headers, "x-query-plan": "1" };
  const result = (await (await fetch(`${url}${path}`, { ...o, headers, body: JSON.stringify(body) })).json()) as {
    readonly extensions?: unknown;
    readonly errors?: readonly { readonly extensions?: unknown }[];
  };
  return JSON.stringify([result.extensions, result.errors?.map(({ extensions }) => extensions)]);
}

/** @returns the statuses, in order. */
async function plant({ url }: Pick<ObservedProcess, "url">, requests: readonly Request[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const [path, { body, ...o }] of requests) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${url}${path}`, { ...o, ...(body === undefined ? {} : { body: text }) });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

interface Planting {
  readonly collection: string;
  readonly field: string;
  readonly body: object;
  readonly token: string;
}

/** Requests with a secret in each part of a request. */
function listServiceRequests({ collection, field, body, token }: Planting): readonly Request[] {
  const rest = `/rest/v1/${collection}`;
  const headers = { ...json, ...bearer(token) };
  const withBody = { method: "POST", headers: { ...headers, "idempotency-key": mark }, body };
  const graphql = (query: string, variables: object = {}, more: object = {}): Request => [
    "/graphql",
    { method: "POST", headers, body: { query, variables, ...more } },
  ];
  const entities = "query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }";
  return [
    [rest, { headers: headersWithSecrets }],
    [rest, { headers: bearer(token) }],
    [rest, { headers: bearer(`${mark}.${mark}.${mark}`) }],
    [rest, { headers: { authorization: `Basic ${mark}` } }],
    [`${rest}?search=${mark}&cursor=${mark}`, {}],
    [`${rest}?${mark}=${email}`, {}],
    [`${rest}?cursor=${mark}`, {}],
    [`${rest}/${mark}`, {}],
    [`/${mark}/%E0%A4${mark}`, {}],
    [rest, withBody],
    [rest, { ...withBody, body: { ...body, [mark]: email } }],
    [rest, { ...withBody, body: `{"password": "${mark}", ` }],
    [rest, { ...withBody, headers: { ...withBody.headers, "content-type": `text/${mark}` } }],
    [rest, { ...withBody, method: "PUT" }],
    graphql(`{ ${field} }`),
    graphql(`query ${mark} { ${mark}: __typename }`, { [mark]: email }, { operationName: mark }),
    graphql(`query ${mark} { __typename }`, {}, { operationName: `${mark}other` }),
    graphql(`query ($${mark}: Int!) { ${field} }`, { [mark]: email }),
    graphql(`{ ${mark} ${field} @skip(if: "${mark}") }`),
    graphql(`{ ${mark}`, { password: mark }, { extensions: { token: mark } }),
    graphql(entities, { r: [{ __typename: mark, id: email }, mark] }),
    ["/graphql", { method: "POST", headers, body: `{"query": ${mark}` }],
    ["/graphql", { method: "POST", headers: { ...json, ...bearer(mark) }, body: { query: "{ __typename }" } }],
    [`/graphql?query={${mark}}`, { headers: { "apollo-require-preflight": mark } }],
  ];
}

/**
 * Stops the process and checks everything that it wrote and exported.
 * @param counted a series that `/metrics` has after the requests: it proves that they were processed and recorded.
 */
async function expectNoSecrets(
  { adminUrl, stop, written }: Omit<ObservedProcess, "query">,
  secrets: readonly string[],
  counted: string,
): Promise<void> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  expect(await stop()).toBe(0);
  expect(metrics).toContain(counted);
  expect(written().match(/"msg":"request completed"/g)?.length ?? 0).toBeGreaterThan(5);
  expect(collector.received().filter((text) => text.includes("http.response.status_code"))).not.toEqual([]);
  for (const text of [written(), metrics, ...collector.received()]) expectNoSecretsIn(text, secrets);
}

function expectNoSecretsIn(text: string, secrets: readonly string[]): void {
  expect(text.split("\n").filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
}
