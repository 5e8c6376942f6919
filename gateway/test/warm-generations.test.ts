import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ask } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { composeSupergraph } from "./helpers/subgraphs.ts";
import { type GatewayProcess, spawnGateway, writeSupergraph } from "./helpers/process.ts";

let library: Library;
let file: string;
let gateway: GatewayProcess;
let url: string;

beforeAll(async () => {
  library = await startLibrary();
});
afterAll(() => library.close());
beforeEach(async () => {
  file = writeSupergraph(library.supergraphSdl);
  gateway = spawnGateway({ SUPERGRAPH_FILE: file, SUPERGRAPH_POLL_MS: "20", LOG_LEVEL: "debug" });
  await gateway.logged(({ observation }) => observation === "supergraph-loaded");
  url = `${String((await gateway.logged(({ msg }) => msg === "listening"))["url"])}/graphql`;
});
afterEach(async () => {
  gateway.child.kill("SIGKILL");
  await gateway.exited;
});

test("what clients ask for is planned in the next supergraph before it is swapped in, and nothing is fetched for that", async () => {
  await ask(url, "{ books { title stars } }");
  await ask(url, "query Named { people { name } }");
  const fetches = library.all.flatMap(({ requests }) => requests).length;

  await publish(`${library.supergraphSdl}\n# 2\n`);
  expect(countPlans()).toBe(4);
  expect(library.all.flatMap(({ requests }) => requests)).toHaveLength(fetches);

  expect((await ask(url, "query Named { people { name } }")).body.data.people).toHaveLength(2);
  expect((await ask(url, "{ books { title stars } }")).body).not.toHaveProperty("errors");
  await publish(`${library.supergraphSdl}\n# 3\n`);
  expect(countPlans()).toBe(6);
});

test("each combination of conditions that clients ask with is planned", async () => {
  const query = "query ($full: Boolean!) { books { title stars @include(if: $full) } }";
  for (const full of [true, false]) await ask(url, query, { variables: { full } });
  // Lines are written a little later than answers.
  await expect.poll(countPlans).toBe(2);
  await publish(`${library.supergraphSdl}\n# 2\n`);
  expect(countPlans()).toBe(4);
});

test("each combination of override labels is planned, those too that only the next supergraph has", async () => {
  await ask(url, "{ books { title stars } }");
  await expect.poll(countPlans).toBe(1);
  const typeDefs = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@override"])
    type Book @key(fields: "isbn") { isbn: ID! stars: Int @override(from: "ratings", label: "percent(50)") }`;
  await publish(composeSupergraph([...library.all, { name: "reviews", url: "", typeDefs }]));
  expect(countPlans()).toBe(3);
});

test("what the next supergraph no longer has is left out of the warming, and the rest is warmed", async () => {
  for (let times = 0; times < 2; times++) await ask(url, "{ whoAmI }");
  await ask(url, "{ books { title } }");

  await publish(library.supergraphSdl.replaceAll("whoAmI", "whoAreYou"));
  expect(countPlans()).toBe(3);
  expect((await ask(url, "{ whoAmI }")).body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
});

/** How many operations were planned, up to the last line that was awaited. */
function countPlans(): number {
  return gateway.log.filter(({ observation }) => observation === "plan-built").length;
}

async function publish(supergraphSdl: string): Promise<void> {
  const earlier = new Set(gateway.log);
  writeFileSync(file, supergraphSdl);
  await gateway.logged((line) => line["observation"] === "supergraph-loaded" && !earlier.has(line));
}
