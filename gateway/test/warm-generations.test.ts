import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { sendOperation } from "./helpers/gateway.ts";
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

test("used operations are planned for the next supergraph before it is used, without fetches", async () => {
  await sendOperation(url, "{ books { title stars } }");
  await sendOperation(url, "query Named { people { name } }");
  const fetches = library.all.flatMap(({ requests }) => requests).length;

  await publish(`${library.supergraphSdl}\n# 2\n`);
  expect(countPlans()).toBe(4);
  expect(library.all.flatMap(({ requests }) => requests)).toHaveLength(fetches);

  expect((await sendOperation(url, "query Named { people { name } }")).body.data.people).toHaveLength(2);
  expect((await sendOperation(url, "{ books { title stars } }")).body).not.toHaveProperty("errors");
  await publish(`${library.supergraphSdl}\n# 3\n`);
  expect(countPlans()).toBe(6);
});

test("each used combination of conditions is planned", async () => {
  const query = "query ($full: Boolean!) { books { title stars @include(if: $full) } }";
  for (const full of [true, false]) await sendOperation(url, query, { variables: { full } });
  // Log lines are written later than responses.
  await expect.poll(countPlans).toBe(2);
  await publish(`${library.supergraphSdl}\n# 2\n`);
  expect(countPlans()).toBe(4);
});

test("each combination of override labels is planned, also of labels that only the next supergraph has", async () => {
  await sendOperation(url, "{ books { title stars } }");
  await expect.poll(countPlans).toBe(1);
  const typeDefs = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@override"])
    type Book @key(fields: "isbn") { isbn: ID! stars: Int @override(from: "ratings", label: "percent(50)") }`;
  await publish(composeSupergraph([...library.all, { name: "reviews", url: "", typeDefs }]));
  expect(countPlans()).toBe(3);
});

test("operations that are not valid in the next supergraph are skipped, and the others are warmed", async () => {
  for (let times = 0; times < 2; times++) await sendOperation(url, "{ whoAmI }");
  await sendOperation(url, "{ books { title } }");

  await publish(library.supergraphSdl.replaceAll("whoAmI", "whoAreYou"));
  expect(countPlans()).toBe(3);
  expect((await sendOperation(url, "{ whoAmI }")).body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
});

/** The number of planned operations, up to the last awaited log line. */
function countPlans(): number {
  return gateway.log.filter(({ observation }) => observation === "plan-built").length;
}

async function publish(supergraphSdl: string): Promise<void> {
  const earlier = new Set(gateway.log);
  writeFileSync(file, supergraphSdl);
  await gateway.logged((line) => line["observation"] === "supergraph-loaded" && !earlier.has(line));
}
