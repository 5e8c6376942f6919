import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { createClient, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { serverAudits } from "graphql-http";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { type EchoPlatform, startEchoPlatform } from "./helpers/echo-platform.ts";
import { readGraphqlResponse } from "./helpers/gateway.ts";
import { sendRaw } from "./helpers/raw-http.ts";
import { composeSupergraph, respondJson, startSubgraph } from "./helpers/subgraphs.ts";

// The setting `http.draft: 2026-08`: GraphQL over HTTP of August 2026, "Status Codes".

const json = "application/json";
const graphql = "application/graphql-response+json";
const invalid = "{ nothing }";
const valid = '{ one(name: "x") }';
const partial = '{ one(name: "x") two(name: "x") }';

let platform: EchoPlatform;
let received: string[];

beforeEach(async () => {
  received = [];
  platform = await startEchoPlatform("http: { draft: 2026-08 }", { DEPTH_MAX: "2" });
  platform.second.fault = (response) => response.destroy();
});

const post = async (body: string, accept: string) => {
  const headers = { accept, "content-type": json };
  return readGraphqlResponse(await fetch(`${platform.gateway.url}/graphql`, { method: "POST", headers, body }));
};

const cases: readonly (readonly [what: string, body: string | object, ofJson: number, ofGraphql: number])[] = [
  ["complete data", { query: valid }, 200, 200],
  ["data and errors", { query: partial }, 200, 294],
  ["no JSON", '{"query":', 400, 400],
  ["a key twice", '{"query":"{a}","query":"{a}"}', 400, 400],
  ["a batch", [], 400, 422],
  ["no query", { qeury: valid }, 400, 422],
  ["variables that are a list", { query: valid, variables: [7] }, 400, 422],
  ["a hash that is malformed", { extensions: { persistedQuery: { version: 1, sha256Hash: "x" } } }, 400, 422],
  ["an unknown hash", { extensions: { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } } }, 200, 422],
  ["a syntax error", { query: "{" }, 200, 400],
  ["an unknown field", { query: invalid }, 200, 422],
  ["a subscription", { query: "subscription { one }" }, 200, 422],
  ["no operation of that name", { query: valid, operationName: "A" }, 200, 422],
  ["several operations", { query: `query A ${valid} query B ${valid}` }, 200, 422],
  ["a variable that cannot be coerced", { query: "query ($n: String!) { one(name: $n) }" }, 200, 422],
  ["a document above a limit", { query: "{ a { a { a } } }" }, 200, 422],
];

// A repeated request takes the fast path if its operation is valid.
test.each(cases)("%s", async (_, body, ofJson, ofGraphql) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  for (const repetition of [1, 2]) {
    const [plain, modern] = [await post(text, json), await post(text, graphql)];
    expect({ repetition, statuses: [plain.status, modern.status] }).toEqual({
      repetition,
      statuses: [ofJson, ofGraphql],
    });
    expect(modern.body).toEqual(plain.body);
    expect(modern.headers.get("content-type")).toBe(`${graphql}; charset=utf-8`);
  }
});

test("the fast path sends 294 too, with its reason, and no cache may store it", async () => {
  await post(JSON.stringify({ query: partial }), graphql);
  const body = JSON.stringify({ query: partial });
  const head = [
    "POST /graphql HTTP/1.1",
    "Host: x",
    "Connection: close",
    `Content-Type: ${json}`,
    `Accept: ${graphql}`,
  ];
  const lines = [...head, `Content-Length: ${body.length}`];
  const response = await sendRaw(platform.gateway.url, `${lines.join("\r\n")}\r\n\r\n${body}`);
  expect(platform.gateway.tookFastPath()).toBe(true);
  expect(response).toMatch(/^HTTP\/1\.1 294 Partial Success\r\n/);
  expect(response).toMatch(/\r\nCache-Control: no-store\r\n/i);
  expect(response).not.toMatch(/\r\nETag:/i);
});

test.each([
  [{ query: partial }, 200, 294],
  [{ query: invalid }, 200, 422],
  [{ query: "{" }, 200, 400],
  [{ query: valid, variables: "[]" }, 400, 422],
  [{ query: valid, variables: "{" }, 400, 400],
  [{ query: 'mutation { oneWrite(name: "x") }' }, 405, 405],
])("GET with %j", async (parameters: Record<string, string>, ofJson, ofGraphql) => {
  const url = `${platform.gateway.url}/graphql?${new URLSearchParams(parameters).toString()}`;
  const send = (accept: string) => fetch(url, { headers: { accept, "apollo-require-preflight": "1" } });
  expect([(await send(json)).status, (await send(graphql)).status]).toEqual([ofJson, ofGraphql]);
});

test("a GET by hash that no cache may store is 294, one without errors is 200 with an ETag", async () => {
  const { gateway, first } = platform;
  first.fault = async (response, _body, _request, resolve) =>
    respondJson(response, 200, JSON.stringify(await resolve()), { "cache-control": "public, max-age=5" });
  const get = async (query: string) => {
    const persistedQuery = { version: 1, sha256Hash: createHash("sha256").update(query).digest("hex") };
    await post(JSON.stringify({ query, extensions: { persistedQuery } }), graphql);
    const extensions = encodeURIComponent(JSON.stringify({ persistedQuery }));
    const { status, headers } = await fetch(`${gateway.url}/graphql?extensions=${extensions}`, {
      headers: { accept: graphql },
    });
    return [status, headers.get("cache-control"), headers.has("etag")];
  };
  expect(await get(partial)).toEqual([294, "no-store", false]);
  expect(await get(valid)).toEqual([200, "public, max-age=0, s-maxage=5", true]);
});

test("data that is null because of an error is 294", async () => {
  const { gateway } = platform;
  const subgraph = await startSubgraph({ name: "only", typeDefs: "type Query { must: String! }", resolvers: {} });
  onTestFinished(() => subgraph.close());
  writeFileSync(gateway.file, composeSupergraph([subgraph]));
  await gateway.seen("supergraph-loaded", 2);
  const { status, body } = await post('{"query":"{ must }"}', graphql);
  expect([status, body.data, body.errors.length]).toEqual([294, null, 1]);
});

test("the setting takes effect without a restart", async () => {
  const { gateway, writeSettings } = platform;
  const send = (query: string) => gateway.send(query, { headers: { accept: graphql } });
  expect((await send(invalid)).status).toBe(422);
  writeSettings("{}");
  await gateway.seen("settings-loaded");
  expect([(await send(invalid)).status, (await send(partial)).status]).toEqual([400, 200]);
});

async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  received.push(`${init?.method ?? "GET"} ${response.status}`);
  return response;
}

test("Apollo Client registers a persisted query, and gets partial data and the errors of an invalid document", async () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const link = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
  const uri = `${platform.gateway.url}/graphql`;
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: link.concat(new HttpLink({ uri, fetch: recordingFetch })),
  });
  onTestFinished(() => client.stop());
  const result = await client.query({ query: gql(partial), errorPolicy: "all" });
  expect(result.data).toEqual({ one: null, two: null });
  expect(CombinedGraphQLErrors.is(result.error)).toBe(true);
  const { error } = await client.query({ query: gql(invalid), errorPolicy: "all" });
  expect(error?.message).toContain('Cannot query field "nothing"');
  expect(received).toEqual(["GET 422", "POST 294", "GET 422", "POST 422"]);
});

test("urql registers a persisted query, and gets partial data and the errors of an invalid document", async () => {
  const url = `${platform.gateway.url}/graphql`;
  const client = createClient({ url, exchanges: [persistedExchange(), fetchExchange], fetch: recordingFetch });
  const result = await client.query(partial, {});
  expect([result.data, result.error?.graphQLErrors.length]).toEqual([{ one: null, two: null }, 1]);
  const { error } = await client.query(invalid, {});
  expect(error?.graphQLErrors[0]?.message).toContain('Cannot query field "nothing"');
  expect(received).toEqual(["GET 422", "GET 294", "GET 422", "GET 422"]);
});

test("of the audits of the earlier draft, those fail that expect 400", async () => {
  const audits = serverAudits({ url: `${platform.gateway.url}/graphql` });
  const results = await Promise.all(audits.map((audit) => audit.fn()));
  const failed = results.filter(({ status }) => status !== "ok").map(({ name }) => name);
  expect(failed).toEqual([
    "MAY use 400 status code on missing {query} parameter",
    "SHOULD use a status code of 400 on variable coercion failure when accepting application/graphql-response+json",
  ]);
});
