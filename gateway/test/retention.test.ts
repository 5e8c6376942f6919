import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
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

/** Writes a new document for each count, and the variables to send with it. */
const kinds: readonly (readonly [name: string, write: (count: number) => string, variables: readonly object[]])[] = [
  ["of one field", (count) => `{ a${count}: books { title } }`, [{}]],
  ["over three subgraphs", (count) => `{ a${count}: books { title stars author { name books { title } } } }`, [{}]],
  [
    "with variables",
    (count) => `query Q${count}($id: ID!) { person(id: $id) { name books { comments } } }`,
    [{ id: 1 }],
  ],
  [
    "with a fragment that is spread often",
    (count) => `{ a${count}: books { ${repeat("...F", 8)} } } fragment F on Book { ${many("title", 15)} }`,
    [{}],
  ],
  ["of many fields", (count) => `{ ${repeat(`a${count}_#: books { title stars author { name } }`, 20)} }`, [{}]],
  [
    "with combinations of conditions",
    (count) =>
      `query V${count}(${flags.map((flag) => `$${flag}: Boolean!`).join(" ")}) { books { title @skip(if: $a) stars @skip(if: $b) author @skip(if: $c) { id name @skip(if: $d) books @skip(if: $e) { title } } } }`,
    combinations,
  ],
];

test.each(kinds)(
  "the reported size of documents %s is close to the heap that they retain",
  async (_, write, variables) => {
    const documents = Math.ceil(100 / variables.length);
    for (let count = 0; count < 10; count++) await send(write(1_000_000 + count), variables);
    const before = await measure();
    for (let count = 0; count < documents; count++) await send(write(count), variables);
    const after = await measure();
    const retained = after.heapBytes - before.heapBytes;
    const reported = after.reportedBytes - before.reportedBytes;
    expect(retained / reported).toBeGreaterThan(0.5);
    expect(retained / reported).toBeLessThan(1.5);
  },
);

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
