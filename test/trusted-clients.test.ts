import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { generatePersistedQueryIdsFromManifest } from "@apollo/persisted-query-lists";
import { cacheExchange, createClient, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { type DocumentNode, parse } from "graphql";
import {
  commitMutation,
  createOperationDescriptor,
  Environment,
  fetchQuery,
  type GraphQLResponse,
  Network,
  RecordSource,
  Store,
} from "relay-runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../gateway/test/helpers/gateway.ts";
import { type Library, startLibrary } from "../gateway/test/helpers/library.ts";
import { runBundle } from "../supergraph/clients/clients-command.ts";
import { personPageQuery, renameMutation } from "./trusted-clients/relay-artifacts.ts";

// Apps of the three toolchains, whose manifests in trusted-clients/ are as their tools wrote them (too large for dependencies, except for the runtimes):
// @apollo/generate-persisted-query-manifest 1.4.0, relay-compiler 21.0.1 and @graphql-codegen/client-preset 6.2.0.

const folder = mkdtempSync(join(tmpdir(), "trusted-clients-"));
const read = (name: string) => readFileSync(new URL(`trusted-clients/${name}`, import.meta.url), "utf8");
const tomorrow = new Date(Date.now() + 24 * 60 * 60_000).toISOString().slice(0, 10);
const variables = { id: "1", withEmail: true };
const renamed = { id: "1", name: "Augusta" };
let library: Library;
let gateway: RunningGateway;
/** The bodies that the clients sent, with the codes of the errors that they received. */
let sent: string[] = [];
let codes: unknown[] = [];

beforeAll(async () => {
  library = await startLibrary();
  for (const app of ["apollo", "relay", "codegen"]) register(`clients/${app}/1.json`, read(`${app}.json`));
  for (const app of ["apollo", "relay", "codegen"]) describeClient(app, {});
  bundle();
  const settingsFile = register(
    "gateway.yaml",
    `documents: { mode: enforce, file: ${join(folder, "documents.json")} }`,
  );
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment: { SETTINGS_FILE: settingsFile } });
  await gateway.seen("documents-loaded");
  // Another build of each app. The operations of the first one expire.
  for (const app of ["apollo", "relay", "codegen"]) {
    register(`clients/${app}/2.json`, JSON.stringify({ [`${app}-2`]: "query Next { whoAmI }" }));
    describeClient(app, { "1.json": tomorrow });
  }
  bundle();
  await gateway.seen("documents-loaded", 2);
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
  rmSync(folder, { recursive: true });
});

const pageText = `
  query PersonPage($id: ID!, $withEmail: Boolean = false) { person(id: $id) { id ...PersonCard books { isbn title stars } } }
  fragment PersonCard on Person { name email @include(if: $withEmail) }`;
const renameText = "mutation Rename($id: ID!, $name: String!) { rename(id: $id, name: $name) { id name } }";
const books = [
  { isbn: "b1", title: "Engines", stars: 1 },
  { isbn: "b4", title: "Engines II", stars: 4 },
];
const person = { id: "1", name: "Ada", email: "ada@example.org", books };

test("Apollo Client with its manifest", async () => {
  reset();
  const manifest = JSON.parse(read("apollo.json")) as { readonly operations: { id: string; name: string }[] };
  const ids = new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest: () => manifest }));
  const http = new HttpLink({ uri: `${gateway.url}/graphql`, fetch: recordingFetch });
  const client = new ApolloClient({ cache: new InMemoryCache(), link: ids.concat(http) });
  const query = gql(pageText);
  await client.query({ query, variables });
  expect(client.readQuery({ query, variables })).toMatchObject({ person });
  const { data } = await client.mutate({ mutation: gql(renameText), variables: { id: "1", name: "Augusta" } });
  expect(data).toMatchObject({ rename: renamed });
  expect(client.readQuery({ query, variables })).toMatchObject({ person: { ...person, name: "Augusta" } });
  expectIdsOnly();
  const unknown = gql`
    query PersonPage {
      whoAmI
    }
  `;
  const sentText = new ApolloClient({ cache: new InMemoryCache(), link: http });
  await expect(sentText.query({ query: unknown })).rejects.toThrow();
  expect(codes).toEqual(["DOCUMENT_NOT_TRUSTED"]);
  client.stop();
  sentText.stop();
});

test("Relay with persisted queries", async () => {
  reset();
  const network = Network.create(async ({ id }, own) => {
    const response = await recordingFetch(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ doc_id: id, variables: own }),
    });
    return (await response.json()) as GraphQLResponse;
  });
  const environment = new Environment({ network, store: new Store(new RecordSource()) });
  const page = createOperationDescriptor(personPageQuery, { id: "1" });
  await fetchQuery(environment, personPageQuery, { id: "1" }).toPromise();
  expect(environment.check(page)).toMatchObject({ status: "available" });
  expect(environment.lookup(page.fragment).data).toMatchObject({ person: { name: "Ada", books } });
  const response = await new Promise((resolve, reject) => {
    commitMutation(environment, {
      mutation: renameMutation,
      variables: renamed,
      onCompleted: resolve,
      onError: reject,
    });
  });
  expect(response).toEqual({ rename: renamed });
  expect(environment.lookup(page.fragment).data).toMatchObject({ person: { name: "Augusta", books } });
  expectIdsOnly();
  const { params } = personPageQuery;
  const unknown = { ...personPageQuery, params: { ...params, id: "of another build" } } as typeof personPageQuery;
  await expect(fetchQuery(environment, unknown, { id: "1" }).toPromise()).rejects.toThrow();
  expect(codes).toEqual(["DOCUMENT_NOT_TRUSTED"]);
});

test("urql with the ids of GraphQL codegen, which are those of other texts than it sends without them", async () => {
  reset();
  const [pageId, renameId] = Object.keys(JSON.parse(read("codegen.json")) as object);
  const toClient = (...persisted: Parameters<typeof persistedExchange>) =>
    createClient({
      url: `${gateway.url}/graphql`,
      exchanges: [cacheExchange, persistedExchange(...persisted), fetchExchange],
      preferGetMethod: false,
      fetch: recordingFetch,
    });
  const client = toClient({
    generateHash: (_, document) =>
      Promise.resolve((document as DocumentNode & { __meta__: { hash: string } }).__meta__.hash),
    enforcePersistedQueries: true,
    enableForMutation: true,
    preferGetForPersistedQueries: false,
  });
  const page = { ...parse(pageText), __meta__: { hash: pageId } };
  const rename = { ...parse(renameText), __meta__: { hash: renameId } };
  expect((await client.query(page, variables)).data).toMatchObject({ person });
  expect((await client.query(page, variables, { requestPolicy: "cache-only" })).data).toMatchObject({ person });
  expect((await client.mutation(rename, renamed)).data).toMatchObject({ rename: renamed });
  // The mutation has invalidated what has a Person, since both responses have `__typename`.
  expect((await client.query(page, variables, { requestPolicy: "cache-only" })).data).toBeFalsy();
  expectIdsOnly();
  expect((await toClient({}).query(pageText, variables)).error).toBeDefined();
  expect(codes).toContain("DOCUMENT_NOT_TRUSTED");
});

function reset(): void {
  sent = [];
  codes = [];
}

function expectIdsOnly(): void {
  expect(sent.length).toBeGreaterThan(1);
  for (const body of sent) expect(JSON.parse(body)).not.toHaveProperty("query");
  expect(codes).toEqual([]);
}

async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  sent.push(init?.body as string);
  const response = await fetch(input, init);
  const { errors = [] } = (await response.clone().json()) as { errors?: { extensions: { code: string } }[] };
  codes.push(...errors.map(({ extensions }) => extensions.code));
  return response;
}

function describeClient(app: string, expires: object): void {
  register(
    `clients/${app}/client.json`,
    JSON.stringify({ owner: `@acme/${app}`, contact: "web@acme.example", expires }),
  );
}

/** `npm run -s clients -- bundle > documents.json` */
function bundle(): void {
  let text = "";
  const print = (printed: string) => void (text += printed);
  expect(runBundle({ root: folder, print, printError: print })).toBe(0);
  register("documents.json", text);
}

function register(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return file;
}
