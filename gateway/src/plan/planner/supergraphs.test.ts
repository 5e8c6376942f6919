import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { expect, test } from "vitest";
import { createSupergraphs } from "./supergraphs.ts";
import type { LibrarySaid, TaskAnswer } from "./tasks.ts";

process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

const supergraphSdl = compose();

test("a supergraph is loaded, plans, and is forgotten", async () => {
  const { perform } = setUp();
  expect(await perform({ kind: "start" })).toEqual({ kind: "done" });
  const loaded = await perform({ kind: "load", id: 1, supergraphSdl });
  expect(loaded).toMatchObject({ kind: "loaded", apiSdl: expect.stringContaining("type Book") });
  const planned = await perform({ kind: "plan", id: 1, operationText: "{ books { title stars } }", enabledLabels: [] });
  expect(servicesOf(planned)).toEqual(["books", "ratings"]);
  expect(await perform({ kind: "drop", id: 1 })).toEqual({ kind: "done" });
  expect(await perform({ kind: "plan", id: 1, operationText: "{ books { title } }", enabledLabels: [] })).toMatchObject(
    {
      kind: "failed",
      message: "No supergraph 1 is loaded here",
    },
  );
});

test.each([
  ["is cut off", (sdl: string) => sdl.slice(0, sdl.length / 2)],
  ["is none", () => "type Query { a: Int }"],
  [
    "joins a subgraph that is not there",
    (sdl: string) => sdl.replace("@join__type(graph: BOOKS", "@join__type(graph: B"),
  ],
  [
    "needs a directive that nobody enforces",
    (sdl: string) => sdl.replace("schema\n", 'schema\n  @link(url: "https://example.com/guard/v1.0", for: SECURITY)\n'),
  ],
])("a supergraph that %s fails with a reason", async (_, spoil) => {
  const { perform } = setUp();
  const failed = await perform({ kind: "load", id: 1, supergraphSdl: spoil(supergraphSdl) });
  expect(failed).toMatchObject({ kind: "failed", message: expect.stringMatching(/\w/) });
});

test("a supergraph that protects data fails by name, one that only has cache tags is loaded", async () => {
  const { perform } = setUp();
  const link = (feature: string, purpose: string) =>
    supergraphSdl.replace("schema\n", `schema\n  @link(url: "https://specs.apollo.dev/${feature}", for: ${purpose})\n`);
  const guarded = await perform({ kind: "load", id: 1, supergraphSdl: link("authenticated/v0.1", "SECURITY") });
  expect(guarded).toMatchObject({
    message: expect.stringContaining("would show everybody what @authenticated protects"),
  });
  const tagged = await perform({ kind: "load", id: 2, supergraphSdl: link("cacheTag/v0.1", "EXECUTION") });
  expect(tagged.kind).toBe("loaded");
});

test("an operation that is deeper than the stack is too complex", async () => {
  const { perform } = setUp();
  await perform({ kind: "load", id: 1, supergraphSdl });
  const depth = 100_000;
  const operationText = `{ books { title ${"... on Book { title ".repeat(depth)}${"}".repeat(depth)} } }`;
  expect(await perform({ kind: "plan", id: 1, operationText, enabledLabels: [] })).toMatchObject({
    kind: "too-complex",
  });
});

test("what Apollo Gateway has to say is passed on", async () => {
  const { perform, said } = setUp();
  await perform({ kind: "load", id: 1, supergraphSdl });
  expect(said).toContainEqual({ kind: "library-said", level: "debug", text: "Loading gateway..." });
});

function setUp() {
  const said: LibrarySaid[] = [];
  return { ...createSupergraphs({ say: (one) => void said.push(one) }), said };
}

function servicesOf(answer: TaskAnswer): unknown[] {
  if (answer.kind !== "planned") throw new Error(JSON.stringify(answer));
  return [...answer.planJson.matchAll(/"serviceName":"(\w+)"/g)].map(([, name]) => name);
}

function compose(): string {
  const header = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])\n';
  const subgraphs = {
    books: 'type Query { books: [Book] } type Book @key(fields: "isbn") { isbn: ID! title: String }',
    ratings: 'type Book @key(fields: "isbn") { isbn: ID! stars: Int }',
  };
  const services = Object.entries(subgraphs).map(([name, defs]) => ({ name, typeDefs: parse(header + defs) }));
  const { supergraphSdl: sdl, errors } = composeServices(services);
  if (sdl === undefined) throw new AggregateError(errors ?? [], "The test's subgraphs do not compose");
  return sdl;
}
