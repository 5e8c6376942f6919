import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type FakeCollector, startCollector } from "./collector.ts";
import { type ObservedProcess, startObservedService } from "./observed-process.ts";

let issuer: TestIssuer;
let collector: FakeCollector;
beforeAll(async () => {
  [issuer, collector] = await Promise.all([startTestIssuer(), startCollector()]);
});
afterAll(() => Promise.all([issuer.stop(), collector.stop()]));

/** Part of every planted secret, and of no other text. */
const mark = `plum${randomBytes(6).toString("hex")}`;
const email = `${mark}@example.com`;

test.each([
  ["users", "users", "users { nodes { id } }", { name: mark, email }],
  ["posts", "posts", "posts { nodes { id } }", { title: mark, body: mark, authorId: "1" }],
  ["comments", "posts/1/comments", "comment(id: 1) { id }", { body: mark }],
  ["orders", "products", "products { nodes { sku } }", { lines: [{ sku: mark, qty: 1 }] }],
])("the logs, metrics and traces of %s contain no data of its clients", async (service, collection, field, body) => {
  const o = { postgresUrl: inject("postgresUrl"), issuer, collectorUrl: collector.url };
  const running = await startObservedService(service, o);
  const token = await issuer.token("1", ["users:write:all", "posts:write", "comments:write", "orders:write"], {
    email,
  });
  const statuses = await plant(running, { collection, field, body, token });
  const metrics = await (await fetch(`${running.adminUrl}/metrics`)).text();
  expect(await running.stop()).toBe(0);

  // The requests were processed and recorded; otherwise the secrets would be missing for another reason.
  expect(new Set(statuses)).toContain(200);
  expect(running.written().match(/"msg":"request completed"/g)).toHaveLength(statuses.length);
  const traced = collector.received().filter((text) => text.includes(service));
  expect(traced.join()).toContain("db.query.summary");
  expect(metrics).toContain('tributary_service_requests_total{endpoint="rest"');

  for (const secret of [mark, token, token.split(".")[2] ?? ""]) {
    expect(running.written()).not.toContain(secret);
    expect(metrics).not.toContain(secret);
    expect(collector.received().filter((text) => text.includes(secret))).toEqual([]);
  }
});

test("the logs of users contain no row data from database errors", async () => {
  const o = { postgresUrl: inject("postgresUrl"), issuer, collectorUrl: collector.url };
  const running = await startObservedService("users", o);
  const token = await issuer.token("1", ["users:write:all"]);
  const create = () =>
    send(running, "/rest/v1/users", {
      method: "POST",
      headers: { ...json, ...bearer(token) },
      body: { name: mark, email },
    });
  await running.query(`create function raise_row() returns trigger language plpgsql as
    $$ begin raise exception 'rejected row %', new using detail = new.email; end $$`);
  await running.query("create trigger raise_row before insert on users for each row execute function raise_row()");
  expect(await create()).toBe(500);
  await running.query("drop trigger raise_row on users");
  await running.query(
    "alter table users add column code int generated always as (length(name) / (length(name) - 16)) stored",
  );
  expect(await create()).toBe(500);
  await running.stop();
  expect(running.written()).toContain("raised by a database function");
  expect(running.written()).toContain("division by zero");
  expect(running.written()).not.toContain(mark);
});

const json = { "content-type": "application/json" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

interface Planting {
  readonly collection: string;
  readonly field: string;
  readonly body: object;
  readonly token: string;
}

/** Sends requests with a secret in each part of a request. @returns the statuses, in order. */
async function plant(running: ObservedProcess, { collection, field, body, token }: Planting): Promise<number[]> {
  const rest = `/rest/v1/${collection}`;
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
    "if-none-match": `"${mark}"`,
    "x-forwarded-for": mark,
  };
  const withBody = { method: "POST", headers: { ...json, ...bearer(token), "idempotency-key": mark }, body };
  const graphql = (query: string, variables: object = {}, more: object = {}) =>
    [
      "/graphql",
      { method: "POST", headers: { ...json, ...bearer(token) }, body: { query, variables, ...more } },
    ] as const;
  const requests: readonly (readonly [string, SendOptions])[] = [
    [rest, { headers: headersWithSecrets }],
    [rest, { headers: bearer(token) }],
    [rest, { headers: bearer(`${mark}.${mark}.${mark}`) }],
    [rest, { headers: { authorization: `Basic ${mark}` } }],
    [`${rest}?search=${mark}&cursor=${mark}`, {}],
    [`${rest}?${mark}=${email}`, {}],
    [`${rest}?cursor=${mark}`, {}],
    [`${rest}/${mark}`, {}],
    [`/${mark}/%E0%A4${mark}`, {}],
    [rest, { ...withBody }],
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
    ["/graphql", { method: "POST", headers: { ...json, ...bearer(token) }, body: `{"query": ${mark}` }],
    ["/graphql", { method: "POST", headers: { ...json, ...bearer(mark) }, body: { query: "{ __typename }" } }],
    [`/graphql?query={${mark}}`, { headers: { "apollo-require-preflight": mark } }],
  ];
  const statuses: number[] = [];
  for (const [path, o] of requests) statuses.push(await send(running, path, o));
  return statuses;
}

const entities = "query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }";

interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function send({ url }: ObservedProcess, path: string, { body, ...o }: SendOptions): Promise<number> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, { ...o, ...(body === undefined ? {} : { body: text }) });
  await response.text();
  return response.status;
}
