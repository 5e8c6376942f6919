import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { GraphQLSchema } from "graphql";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTaskRunner } from "../src/engine/plan/planner/task-runner.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { OPERATIONS_BYTES_MAX: "1000000000" },
  });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

const flags = ["a", "b", "c", "d", "e"];
const combinations = Array.from({ length: 2 ** flags.length }, (_, bits) =>
  Object.fromEntries(flags.map((flag, i) => [flag, Math.floor(bits / 2 ** i) % 2 === 1])),
);

interface DocumentKind {
  readonly name: string;
  /** Enough that what they retain is much more than other changes of the heap. */
  readonly documentCount: number;
  /** Writes a new document for each count. */
  readonly write: (count: number) => string;
  /** Each document is sent once with each of these. */
  readonly variables: readonly object[];
}

const kinds: readonly DocumentKind[] = [
  { name: "of one field", documentCount: 100, write: (count) => `{ a${count}: books { title } }`, variables: [{}] },
  {
    name: "over three subgraphs",
    documentCount: 100,
    write: (count) => `{ a${count}: books { title stars author { name books { title } } } }`,
    variables: [{}],
  },
  {
    name: "with variables",
    documentCount: 100,
    write: (count) => `query Q${count}($id: ID!) { person(id: $id) { name books { comments } } }`,
    variables: [{ id: 1 }],
  },
  {
    name: "with a fragment that is spread often",
    documentCount: 100,
    write: (count) => `{ a${count}: books { ${repeat("...F", 8)} } } fragment F on Book { ${many("title", 15)} }`,
    variables: [{}],
  },
  {
    name: "of many fields",
    documentCount: 30,
    write: (count) => `{ ${repeat(`a${count}_#: books { title stars author { name } }`, 20)} }`,
    variables: [{}],
  },
  {
    name: "with combinations of conditions",
    documentCount: 2,
    write: (count) =>
      `query V${count}(${flags.map((flag) => `$${flag}: Boolean!`).join(" ")}) { books { title @skip(if: $a) stars @skip(if: $b) author @skip(if: $c) { id name @skip(if: $d) books @skip(if: $e) { title } } } }`,
    variables: combinations,
  },
];

test.each(kinds)(
  "the reported size of documents $name is close to the heap that they retain",
  async ({ documentCount, write, variables }) => {
    for (let count = 0; count < 5; count++) await send(write(1_000_000 + count), variables);
    const before = await measure();
    for (let count = 0; count < documentCount; count++) await send(write(count), variables);
    const after = await measure();
    const retained = after.heapBytes - before.heapBytes;
    const reported = after.reportedBytes - before.reportedBytes;
    expect(retained / reported).toBeGreaterThan(0.5);
    expect(retained / reported).toBeLessThan(1.5);
  },
);

test("a replaced supergraph is retained neither in the main thread nor in a planner worker", async () => {
  const query = kinds[1]?.write(2_000_000) ?? "";
  const swap = async (count: number) => {
    writeFileSync(gateway.file, `${library.supergraphSdl}\n# ${count}`);
    await gateway.seen("supergraph-loaded");
    // `send` clears the observations.
    await send(query, [{}]);
  };
  await swap(0);
  const schemas = countSchemas();
  for (let count = 1; count <= 4; count++) await swap(count);
  await expect.poll(() => countSchemas()).toBeLessThanOrEqual(schemas);

  const tasks = createTaskRunner({ log: () => {} });
  const reload = async (id: number) => {
    expect(await tasks.run({ kind: "load", id, supergraphSdl: library.supergraphSdl, isKnown: false })).toMatchObject({
      kind: "loaded",
    });
    await tasks.run({ kind: "drop", id });
    // The planner is warmed in the next iteration of the event loop.
    await sleep(0);
  };
  await reload(0);
  const schemasAfterLoad = countSchemas();
  for (let id = 1; id <= 4; id++) await reload(id);
  await expect.poll(() => countSchemas()).toBeLessThanOrEqual(schemasAfterLoad);
});

/** Collects garbage first. */
const countSchemas = () => queryObjects(GraphQLSchema, { format: "count" });

function repeat(text: string, times: number): string {
  return Array.from({ length: times }, (_, i) => text.replace("#", String(i))).join(" ");
}

function many(field: string, times: number): string {
  return repeat(`f#: ${field}`, times);
}

async function send(query: string, variables: readonly object[]): Promise<void> {
  for (const each of variables) {
    const response = await request(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables: each }),
    });
    expect(await response.body.text()).toMatch(/^\{"data":\{/);
  }
  gateway.observations.length = 0;
  for (const { requests } of library.all) requests.splice(0);
}

async function measure(): Promise<{ heapBytes: number; reportedBytes: number }> {
  for (let times = 0; times < 3; times++) {
    collectGarbage();
    await sleep(20);
  }
  const { documents, plans } = gateway.cacheSizes();
  return { heapBytes: process.memoryUsage().heapUsed, reportedBytes: documents.weight + plans.weight };
}
