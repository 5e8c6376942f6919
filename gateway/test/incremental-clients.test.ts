import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { Defer20220824Handler, GraphQL17Alpha9Handler } from "@apollo/client/incremental";
import {
  ApolloClient as ApolloClient3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from "apollo-client-3/core/index.js";
import { cacheExchange, createClient, fetchExchange } from "@urql/core";
import {
  createOperationDescriptor,
  Environment,
  fetchQuery,
  getSingularSelector,
  type GraphQLResponse,
  Network,
  RecordSource,
  Store,
} from "relay-runtime";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { booksFragment, personQuery } from "./helpers/relay-artifacts.ts";

// Documents with `@defer` and `@stream`, for which these clients prefer parts. Each store must be complete after the one response.

let library: Library;
let gateway: RunningGateway;
let accepted: (string | null)[];

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

const consoleError = vi.spyOn(console, "error");
beforeEach(() => void (accepted = []));
afterEach(() => void consoleError.mockClear());

const query = `query Person($id: ID!) { person(id: $id) { id name ...Books @defer(label: "late") } }
  fragment Books on Person { email books @stream(initialCount: 1) { isbn title } }`;
const books = [
  { isbn: "b1", title: "Engines" },
  { isbn: "b4", title: "Engines II" },
];
const data = { person: { id: "1", name: "Ada", email: "ada@example.org", books } };
const variables = { id: "1" };

test.each([
  ["multipart/mixed;deferSpec=20220824", () => new Defer20220824Handler()],
  ["multipart/mixed;incrementalSpec=v0.2", () => new GraphQL17Alpha9Handler()],
])("Apollo Client 4 that accepts %s", async (mediaType, createHandler) => {
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: new HttpLink({ uri: `${gateway.url}/graphql`, fetch: recordingFetch }),
    incrementalHandler: createHandler() as Defer20220824Handler,
  });
  const document = gql(query);
  const loaded = Promise.withResolvers<object>();
  const watched = client.watchQuery({ query: document, variables }).subscribe((state) => {
    if (!state.loading) loaded.resolve(state);
  });
  expect(await loaded.promise).toMatchObject({ data, dataState: "complete", partial: false });
  watched.unsubscribe();
  expect(client.readQuery({ query: document, variables })).toMatchObject(data);
  expect(accepted).toEqual([`${mediaType},application/graphql-response+json,application/json;q=0.9`]);
  expect(consoleError).not.toHaveBeenCalled();
  client.stop();
});

test("Apollo Client 3", async () => {
  const client = new ApolloClient3({
    cache: new InMemoryCache3(),
    link: new HttpLink3({ uri: `${gateway.url}/graphql`, fetch: recordingFetch }),
  });
  const document = gql(query);
  const result = await client.query<unknown>({ query: document, variables });
  expect(result).toMatchObject({ data, loading: false });
  expect(client.readQuery({ query: document, variables })).toMatchObject(data);
  expect(accepted).toEqual(["multipart/mixed;deferSpec=20220824,application/json"]);
  expect(consoleError).not.toHaveBeenCalled();
  client.stop();
});

test("urql", async () => {
  const client = createClient({
    url: `${gateway.url}/graphql`,
    exchanges: [cacheExchange, fetchExchange],
    fetch: recordingFetch,
  });
  const result = await client.query(query, variables);
  expect(result).toMatchObject({ data, hasNext: false, stale: false });
  expect(result.error).toBeUndefined();
  expect(accepted).toEqual([expect.stringContaining("multipart/mixed")]);
  expect(consoleError).not.toHaveBeenCalled();
});

test("Relay with the fetch function of its guide, which warns in development only", async () => {
  consoleError.mockImplementation(() => {});
  const network = Network.create(async ({ text }, sent) => {
    const response = await recordingFetch(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: text, variables: sent }),
    });
    return (await response.json()) as GraphQLResponse;
  });
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  await fetchQuery(environment, personQuery, variables).toPromise();
  const operation = createOperationDescriptor(personQuery, variables);
  expect(environment.check(operation)).toMatchObject({ status: "available" });
  expect(environment.isRequestActive(operation.request.identifier)).toBe(false);
  const { person } = environment.lookup(operation.fragment).data as { person: object };
  const selector = getSingularSelector(booksFragment, person);
  if (selector?.kind !== "SingularReaderSelector") throw new Error("The fragment is not selected");
  const read = environment.lookup(selector);
  expect(read.isMissingData).toBe(false);
  expect(read.data).toEqual({ email: "ada@example.org", books: [{ title: "Engines" }, { title: "Engines II" }] });
  const warnings = consoleError.mock.calls.map(([message]) => String(message));
  expect(warnings.filter((message) => !message.includes("executed in non-streaming mode"))).toEqual([]);
});

function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  accepted.push(new Headers(init?.headers).get("accept"));
  return fetch(input, init);
}
