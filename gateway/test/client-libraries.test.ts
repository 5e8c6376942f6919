import { createHash } from "node:crypto";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { cacheExchange, createClient, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson } from "./helpers/subgraphs.ts";

// Widely used clients with their defaults. Each test states what the client sent, and whether caches may store the response.

let library: Library;
let gateway: RunningGateway;
let exchanges: string[];

beforeAll(async () => {
  library = await startLibrary();
  for (const subgraph of library.all) {
    subgraph.fault = async (response, _body, _request, resolve) => {
      response.setHeader("cache-control", "public, max-age=5");
      respondJson(response, 200, JSON.stringify(await resolve()));
    };
  }
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => void (exchanges = []));

const [byHash, stored] = ["GET by hash", "public, max-age=0, s-maxage=5"];

/** With a cookie that the gateway has not set: of a load balancer, a CDN or an analytics script. */
const headers = { cookie: "__cf_bm=1; _ga=2" };

test("Apollo Client gets a response that caches may store, by hash and GET", async () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const link = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
  const http = new HttpLink({ uri: `${gateway.url}/graphql`, fetch: recordingFetch, headers });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: link.concat(http) });
  const query = gql`
    query Person($id: ID!) {
      person(id: $id) {
        id
        name
      }
    }
  `;
  for (const [id, name] of [
    ["1", "Ada"],
    ["2", "Grace"],
  ]) {
    const { data } = await client.query({ query, variables: { id } });
    expect(data).toMatchObject({ person: { name } });
  }
  client.stop();
  expect(exchanges).toEqual([`${byHash}: no-store`, "POST: no-store", `${byHash}: ${stored}`]);
});

test("urql with its persisted exchange registers by GET, then gets responses that caches may store", async () => {
  const client = createClient({
    url: `${gateway.url}/graphql`,
    exchanges: [cacheExchange, persistedExchange(), fetchExchange],
    fetch: recordingFetch,
    fetchOptions: { headers },
  });
  const query = "query ($id: ID!) { person(id: $id) { id email } }";
  for (const [id, email] of [
    ["1", "ada@example.org"],
    ["2", "grace@example.org"],
  ]) {
    const { data, error } = await client.query(query, { id });
    expect(error).toBeUndefined();
    expect(data).toMatchObject({ person: { email } });
  }
  expect(exchanges).toEqual([`${byHash}: no-store`, "GET with text: no-store", `${byHash}: ${stored}`]);
});

test("urql sends queries by GET without a header, and mutations by POST", async () => {
  const client = createClient({
    url: `${gateway.url}/graphql`,
    exchanges: [fetchExchange],
    fetch: recordingFetch,
  });
  const { data } = await client.query("{ whoAmI }", {});
  expect(data).toMatchObject({ whoAmI: "anonymous" });
  const mutation = `mutation { rename(id: "1", name: "Augusta") { name } }`;
  expect((await client.mutation(mutation, {})).data).toMatchObject({ rename: { name: "Augusta" } });
  expect(exchanges).toEqual(["GET with text: no-store", "POST: no-store"]);
});

async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const { searchParams } = new URL(response.url);
  const form = searchParams.has("query") ? "GET with text" : byHash;
  const isGet = (init?.method ?? "GET") === "GET";
  exchanges.push(`${isGet ? form : "POST"}: ${response.headers.get("cache-control")}`);
  return response;
}
