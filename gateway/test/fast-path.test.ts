import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApolloServerPlugin } from "@apollo/server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { sendOperation, startMirror } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson } from "./helpers/subgraphs.ts";
import type { MirrorGateway } from "./helpers/mirror-gateways.ts";

const folder = mkdtempSync(join(tmpdir(), "fast-path-test-"));
const file = join(folder, "supergraph.graphql");
let library: Library;
let gateway: MirrorGateway;

beforeAll(async () => {
  library = await startLibrary();
  writeFileSync(file, library.supergraphSdl);
});
afterEach(() => gateway.drain());
afterAll(async () => {
  await library.close();
  rmSync(folder, { recursive: true });
});

async function start(environment: Record<string, string> = {}, apolloPlugins: readonly ApolloServerPlugin[] = []) {
  const about = { graphiqlFolder: folder, environment: { SUPERGRAPH_FILE: file, PORT: "0", ...environment } };
  gateway = await startMirror({ ...about, apolloPlugins }, true);
  return (query: string, headers: Record<string, string> = {}) =>
    sendOperation(`http://127.0.0.1:${gateway.port}/graphql`, query, { headers });
}

test("the fast path takes an operation from its second request on", async () => {
  const post = await start();
  await post("{ whoAmI }");
  expect(gateway.tookFastPath()).toBe(false);
  await post("{ whoAmI }");
  expect(gateway.tookFastPath()).toBe(true);
});

test("the fast path takes an operation that was sent by GET before", async () => {
  const post = await start();
  const headers = { "apollo-require-preflight": "1" };
  await fetch(`http://127.0.0.1:${gateway.port}/graphql?query=${encodeURIComponent("{ whoAmI }")}`, { headers });
  await post("{ whoAmI }");
  expect(gateway.tookFastPath()).toBe(true);
});

test("FAST_PATH=false switches the fast path off", async () => {
  const post = await start({ FAST_PATH: "false" });
  for (let times = 0; times < 2; times++) await post("{ whoAmI }");
  expect(gateway.tookFastPath()).toBe(false);
});

test("an Apollo Server plugin with hooks for requests sees every request: the fast path is off", async () => {
  const seen: unknown[] = [];
  const post = await start({}, [{ requestDidStart: ({ request }) => Promise.resolve(void seen.push(request.query)) }]);
  for (let times = 0; times < 3; times++) expect((await post("{ whoAmI }")).body.data).toEqual({ whoAmI: "anonymous" });
  expect(seen).toEqual(["{ whoAmI }", "{ whoAmI }", "{ whoAmI }"]);
  expect(gateway.tookFastPath()).toBe(false);
});

test("with a plugin without hooks for requests the fast path is on", async () => {
  let isStarted = false;
  const post = await start({}, [{ serverWillStart: () => Promise.resolve(void (isStarted = true)) }]);
  for (let times = 0; times < 2; times++) await post("{ whoAmI }");
  expect([isStarted, gateway.tookFastPath()]).toEqual([true, true]);
});

test("with disabled introspection the fast path is on", async () => {
  const post = await start({ INTROSPECTION: "false" });
  for (let times = 0; times < 2; times++) await post("{ whoAmI }");
  expect(gateway.tookFastPath()).toBe(true);
  expect((await post("{ __schema { queryType { name } } }")).body.errors[0].extensions.code).toBe(
    "INTROSPECTION_DISABLED",
  );
});

test("while the process drains, responses of the fast path close their connections", async () => {
  const post = await start({ DRAIN_DELAY_MS: "400" });
  await post("{ whoAmI }");
  expect((await post("{ whoAmI }")).headers.get("connection")).toBe("keep-alive");
  const drained = gateway.drain();
  expect((await post("{ whoAmI }")).headers.get("connection")).toBe("close");
  expect(gateway.tookFastPath()).toBe(true);
  await drained;
});

test("the fetches of a client that disconnects on the fast path are aborted", async () => {
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
  const left = fetch(`http://127.0.0.1:${gateway.port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"query":"{ whoAmI }"}',
    signal: client.signal,
  }).catch((error: Error) => error.name);
  await asked;
  client.abort();
  await aborted;
  expect(await left).toBe("AbortError");
  expect(gateway.tookFastPath()).toBe(true);
  library.people.fault = undefined;
});

test("a response that the client does not read is cut on the fast path, too", async () => {
  const post = await start({ RESPONSE_TIMEOUT_MS: "300" });
  await post("{ whoAmI }");
  library.people.fault = (response) =>
    respondJson(response, 200, JSON.stringify({ data: { whoAmI: "x".repeat(9e6) } }));
  const response = await fetch(`http://127.0.0.1:${gateway.port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "accept-encoding": "identity" },
    body: '{"query":"{ whoAmI }"}',
  });
  expect(gateway.tookFastPath()).toBe(true);
  await gateway.seen("response-truncated");
  await expect(response.text()).rejects.toThrow("terminated");
  library.people.fault = undefined;
});
