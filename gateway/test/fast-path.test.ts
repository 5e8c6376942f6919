import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApolloServerPlugin } from "@apollo/server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ask, startTwin } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { answerJson } from "./helpers/subgraphs.ts";
import type { Twin } from "./helpers/mirror-gateways.ts";

const folder = mkdtempSync(join(tmpdir(), "lanes-open-test-"));
const file = join(folder, "supergraph.graphql");
let library: Library;
let twin: Twin;

beforeAll(async () => {
  library = await startLibrary();
  writeFileSync(file, library.supergraphSdl);
});
afterEach(() => twin.drain());
afterAll(async () => {
  await library.close();
  rmSync(folder, { recursive: true });
});

async function start(environment: Record<string, string> = {}, apolloPlugins: readonly ApolloServerPlugin[] = []) {
  const about = { graphiqlFolder: folder, environment: { SUPERGRAPH_FILE: file, PORT: "0", ...environment } };
  twin = await startTwin({ ...about, apolloPlugins }, true);
  return (query: string, headers: Record<string, string> = {}) =>
    ask(`http://127.0.0.1:${twin.port}/graphql`, query, { headers });
}

test("the fast lane takes an operation from its second time on", async () => {
  const post = await start();
  await post("{ whoAmI }");
  expect(twin.tookFastLane()).toBe(false);
  await post("{ whoAmI }");
  expect(twin.tookFastLane()).toBe(true);
});

test("an operation that came by GET is known to the fast lane", async () => {
  const post = await start();
  const headers = { "apollo-require-preflight": "1" };
  await fetch(`http://127.0.0.1:${twin.port}/graphql?query=${encodeURIComponent("{ whoAmI }")}`, { headers });
  await post("{ whoAmI }");
  expect(twin.tookFastLane()).toBe(true);
});

test("FAST_PATH=false closes it", async () => {
  const post = await start({ FAST_PATH: "false" });
  for (let times = 0; times < 2; times++) await post("{ whoAmI }");
  expect(twin.tookFastLane()).toBe(false);
});

test("a plugin of Apollo Server that wants to see each request sees each: the fast lane is closed by itself", async () => {
  const seen: unknown[] = [];
  const post = await start({}, [{ requestDidStart: ({ request }) => Promise.resolve(void seen.push(request.query)) }]);
  for (let times = 0; times < 3; times++) expect((await post("{ whoAmI }")).body.data).toEqual({ whoAmI: "nobody" });
  expect(seen).toEqual(["{ whoAmI }", "{ whoAmI }", "{ whoAmI }"]);
  expect(twin.tookFastLane()).toBe(false);
});

test("a plugin that has no hooks for requests leaves it open", async () => {
  let isStarted = false;
  const post = await start({}, [{ serverWillStart: () => Promise.resolve(void (isStarted = true)) }]);
  for (let times = 0; times < 2; times++) await post("{ whoAmI }");
  expect([isStarted, twin.tookFastLane()]).toEqual([true, true]);
});

test("introspection that is closed leaves it open", async () => {
  const post = await start({ INTROSPECTION: "false" });
  for (let times = 0; times < 2; times++) await post("{ whoAmI }");
  expect(twin.tookFastLane()).toBe(true);
  expect((await post("{ __schema { queryType { name } } }")).body.errors[0].extensions.code).toBe(
    "INTROSPECTION_DISABLED",
  );
});

test("while the process drains, the fast lane's answers end their connections", async () => {
  const post = await start({ DRAIN_DELAY_MS: "400" });
  await post("{ whoAmI }");
  expect((await post("{ whoAmI }")).headers.get("connection")).toBe("keep-alive");
  const drained = twin.drain();
  expect((await post("{ whoAmI }")).headers.get("connection")).toBe("close");
  expect(twin.tookFastLane()).toBe(true);
  await drained;
});

test("a client that leaves the fast lane takes its fetches with it", async () => {
  const post = await start();
  await post("{ whoAmI }");
  const aborted = new Promise<void>((resolve) => {
    library.people.fault = (response) => void response.on("close", resolve);
  });
  const asked = new Promise<void>((resolve) => {
    const { fault } = library.people;
    library.people.fault = (...all) => (resolve(), fault?.(...all));
  });
  const client = new AbortController();
  const left = fetch(`http://127.0.0.1:${twin.port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"query":"{ whoAmI }"}',
    signal: client.signal,
  }).catch((error: Error) => error.name);
  await asked;
  client.abort();
  await aborted;
  expect(await left).toBe("AbortError");
  expect(twin.tookFastLane()).toBe(true);
  library.people.fault = undefined;
});

test("an answer that nobody reads is cut off on the fast lane, too", async () => {
  const post = await start({ RESPONSE_TIMEOUT_MS: "300" });
  await post("{ whoAmI }");
  library.people.fault = (response) => answerJson(response, 200, JSON.stringify({ data: { whoAmI: "x".repeat(9e6) } }));
  const response = await fetch(`http://127.0.0.1:${twin.port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "accept-encoding": "identity" },
    body: '{"query":"{ whoAmI }"}',
  });
  expect(twin.tookFastLane()).toBe(true);
  await twin.seen("response-cut");
  await expect(response.text()).rejects.toThrow("terminated");
  library.people.fault = undefined;
});
