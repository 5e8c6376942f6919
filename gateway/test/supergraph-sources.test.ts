import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { spawnGateway } from "./helpers/process.ts";

/** The section `supergraph` of gateway.yaml, with a registry that needs a key. */
const key = "k3y";
let library: Library;
let respond: (response: ServerResponse) => void;
const registry = createServer((request, response) => {
  if (request.headers["x-hive-cdn-key"] === key) respond(response);
  else response.writeHead(401).end("no key");
});
let folder: string;
let lastGood: string;
let settings: string;

beforeAll(async () => {
  library = await startLibrary();
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  registry.close();
  registry.closeAllConnections();
  await library.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-sources-"));
  lastGood = join(folder, "last-good.graphql");
  settings = join(folder, "gateway.yaml");
  respond = (response) => response.end(library.supergraphSdl);
  writeSettings(key);
  return () => rmSync(folder, { recursive: true });
});

function writeSettings(sentKey: string): void {
  const { port } = registry.address() as AddressInfo;
  writeFileSync(
    settings,
    `supergraph:
  url: http://127.0.0.1:${port}/artifacts/v1/target/supergraph
  headers: { X-Hive-CDN-Key: "${sentKey}" }
  last_good: ${lastGood}
`,
  );
}

async function start(): Promise<RunningGateway> {
  const gateway = await startGateway({ environment: { SUPERGRAPH_FILE: "", SETTINGS_FILE: settings } });
  onTestFinished(() => gateway.drain());
  return gateway;
}

test("a supergraph is read from a registry with a key, compressed or not, and written to last_good", async () => {
  respond = (response) => response.setHeader("content-encoding", "gzip").end(gzipSync(library.supergraphSdl));
  const gateway = await start();
  await gateway.seen("supergraph-loaded");
  await expect.poll(() => readText(lastGood)).toBe(library.supergraphSdl);
  expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
});

const unusable: readonly [string, () => void][] = [
  ["is down", () => (respond = (response) => void response.socket?.destroy())],
  ["fails", () => (respond = (response) => response.writeHead(500).end())],
  ["does not accept the key", () => writeSettings("another")],
  ["sends half of it", () => (respond = (response) => response.end(library.supergraphSdl.slice(0, 2_000)))],
  ["sends what is none", () => (respond = (response) => response.end("type Query { a: Int }"))],
  ["sends a page of HTML", () => (respond = (response) => response.setHeader("content-type", "text/html").end("<p>"))],
  ["stops within the body", () => (respond = (response) => void response.writeHead(200).write("schema"))],
  ["never responds", () => (respond = () => {})],
];

test.each(unusable)("a gateway whose source %s starts with the last accepted supergraph", async (_, spoil) => {
  writeFileSync(lastGood, library.supergraphSdl);
  spoil();
  const gateway = await start();
  await gateway.seen("supergraph-restored");
  expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
  expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
  expect(readText(lastGood)).toBe(library.supergraphSdl);
});

test("a process that serves the last accepted supergraph says so with its age, and no longer when the source has it", async () => {
  writeFileSync(lastGood, library.supergraphSdl);
  const writtenAt = Date.now() / 1_000 - 3_600;
  utimesSync(lastGood, writtenAt, writtenAt);
  respond = (response) => response.end(`${library.supergraphSdl} type {`);
  const gateway = spawnGateway({ SETTINGS_FILE: settings, ADMIN_PORT: "0", SUPERGRAPH_POLL_MS: "20" });
  onTestFinished(async () => {
    gateway.child.kill("SIGKILL");
    await gateway.exited;
  });
  const { url } = await gateway.logged(({ msg }) => msg === "listening");
  const { url: metricsUrl } = await gateway.logged(({ msg }) => msg === "metrics listening");
  const restored = await gateway.logged(({ observation }) => observation === "supergraph-restored");
  const ageOf = (text: unknown) => Math.floor(Number(text) / 60);
  expect(ageOf(restored["ageSeconds"])).toBe(60);

  const readJson = async (address: string) => (await (await fetch(address)).json()) as Record<string, unknown>;
  const readiness = await readJson(`${String(url)}/health/ready`);
  expect(readiness).toMatchObject({ status: "ready", supergraph: expect.stringMatching(/^[\da-f]{12}$/) });
  expect(ageOf(readiness["supergraphStaleSeconds"])).toBe(60);
  const readMetric = async () =>
    /^tributary_gateway_supergraph_stale_seconds (\d+)$/m.exec(await (await fetch(String(metricsUrl))).text())?.[1];
  expect(ageOf(await readMetric())).toBe(60);
  const { supergraph } = await readJson(String(metricsUrl).replace("/metrics", "/config"));
  expect(supergraph).toMatchObject({ rejected: { reason: expect.stringContaining("Syntax Error") } });

  respond = (response) => response.end(library.supergraphSdl);
  await expect.poll(readMetric).toBe("0");
  expect(await readJson(`${String(url)}/health/ready`)).not.toHaveProperty("supergraphStaleSeconds");
});

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
