import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { expect, test } from "vitest";
import { createTaskRunner } from "./task-runner.ts";
import type { LibraryLogEntry, TaskResult } from "./worker-messages.ts";

process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

const supergraphSdl = compose();

test("a supergraph is loaded, planned for and dropped", async () => {
  const { run } = setUp();
  expect(await run({ kind: "start" })).toEqual({ kind: "done" });
  const loaded = await run({ kind: "load", id: 1, supergraphSdl });
  expect(loaded).toMatchObject({ kind: "loaded", apiSdl: expect.stringContaining("type Book") });
  const planned = await run({ kind: "plan", id: 1, operationText: "{ books { title stars } }", enabledLabels: [] });
  expect(servicesOf(planned)).toEqual(["books", "ratings"]);
  expect(await run({ kind: "drop", id: 1 })).toEqual({ kind: "done" });
  expect(await run({ kind: "plan", id: 1, operationText: "{ books { title } }", enabledLabels: [] })).toMatchObject({
    kind: "failed",
    message: "Supergraph 1 is not loaded in this worker",
  });
});

test.each([
  ["is truncated", (sdl: string) => sdl.slice(0, sdl.length / 2)],
  ["is a plain schema", () => "type Query { a: Int }"],
  ["joins a missing subgraph", (sdl: string) => sdl.replace("@join__type(graph: BOOKS", "@join__type(graph: B")],
  [
    "links an unknown SECURITY feature",
    (sdl: string) => sdl.replace("schema\n", 'schema\n  @link(url: "https://example.com/guard/v1.0", for: SECURITY)\n'),
  ],
])("a supergraph that %s fails with a reason", async (_, spoil) => {
  const { run } = setUp();
  const failed = await run({ kind: "load", id: 1, supergraphSdl: spoil(supergraphSdl) });
  expect(failed).toMatchObject({ kind: "failed", message: expect.stringMatching(/\w/) });
});

test("a supergraph with @authenticated is rejected, and one with @cacheTag is loaded", async () => {
  const { run } = setUp();
  const link = (feature: string, purpose: string) =>
    supergraphSdl.replace("schema\n", `schema\n  @link(url: "https://specs.apollo.dev/${feature}", for: ${purpose})\n`);
  const guarded = await run({ kind: "load", id: 1, supergraphSdl: link("authenticated/v0.1", "SECURITY") });
  expect(guarded).toMatchObject({
    message: expect.stringContaining("does not enforce @authenticated"),
  });
  const tagged = await run({ kind: "load", id: 2, supergraphSdl: link("cacheTag/v0.1", "EXECUTION") });
  expect(tagged.kind).toBe("loaded");
});

test("an operation that overflows the stack is too complex", async () => {
  const { run } = setUp();
  await run({ kind: "load", id: 1, supergraphSdl });
  const depth = 100_000;
  const operationText = `{ books { title ${"... on Book { title ".repeat(depth)}${"}".repeat(depth)} } }`;
  expect(await run({ kind: "plan", id: 1, operationText, enabledLabels: [] })).toMatchObject({
    kind: "too-complex",
  });
});

test("log entries of Apollo Gateway are forwarded", async () => {
  const { run, entries } = setUp();
  await run({ kind: "load", id: 1, supergraphSdl });
  expect(entries).toContainEqual({ kind: "library-log", level: "debug", text: "Loading gateway..." });
});

function setUp() {
  const entries: LibraryLogEntry[] = [];
  return { ...createTaskRunner({ log: (entry) => void entries.push(entry) }), entries };
}

function servicesOf(result: TaskResult): unknown[] {
  if (result.kind !== "planned") throw new Error(JSON.stringify(result));
  return [...result.planJson.matchAll(/"serviceName":"(\w+)"/g)].map(([, name]) => name);
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
