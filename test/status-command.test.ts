import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { acquireRunFile } from "../scripts/start/run-file.ts";
import { showStatus } from "../scripts/status/status.ts";

const healthy = {
  process: "gateway",
  status: "ready",
  uptimeSeconds: 200,
  version: "1.2.3",
  revision: "r",
  supergraph: { id: "f00", source: "a.graphql", ageSeconds: 60, staleSeconds: 0 },
  documents: { mode: "enforce", count: 12, source: "b.json", ageSeconds: 300, staleSeconds: 0 },
  services: [
    {
      service: "things",
      owner: "@a/things",
      breaker: "closed",
      replicas: [{ replica: "http://a", state: "healthy", inFlight: 1 }],
      feed: "up",
    },
  ],
  caches: { plans: { entries: 2, bytes: 1_500_000 } },
  admission: { inFlight: 1, limit: 64.5, waiting: 0 },
  rateLimits: { readsPerMinute: 6_000, writesPerMinute: 600 },
  database: { connections: 3, idle: 2, waiting: 0, connectionsMax: 10, migrations: { applied: 1, pending: [] } },
  feedReaders: 2,
};

test("the status of healthy processes is one screen, and the exit code 0", async () => {
  const url = await serve({ "/health/status": healthy });
  expect(await run(["--url", url])).toEqual([
    0,
    `  gateway  ready  ${url}  version 1.2.3  up 3 min
    supergraph   f00, loaded 60 s ago, from a.graphql
    documents    12 registered, loaded 5 min ago, from b.json; mode enforce
    things       1 of 1 replica healthy; feed up; @a/things
    database     1 of 10 connections in use, 0 waiting; 1 migration
    change feed  2 readers
    caches       plans 2 (1.5 MB)
    admission    1 in flight, limit 64, 0 waiting
    rate limits  6000 reads, 600 writes a minute
`,
  ]);
  expect(JSON.parse((await run(["--url", url, "--json"]))[1])).toEqual([{ url, ...healthy }]);
});

const [things] = healthy.services;
const ejected = { replica: "http://a", state: "ejected", inFlight: 0, reason: "connect ECONNREFUSED" };
const suspect = { ...ejected, state: "suspect" };
const rejected = { id: "f01", reason: "no type Query\nmore", subgraphs: ["things"] };

test.each([
  ["an ejected replica", { services: [{ ...things, replicas: [ejected] }] }, "http://a ejected (connect ECONNREFUSED)"],
  [
    "a service without a healthy replica",
    { services: [{ ...things, replicas: [suspect] }] },
    "http://a suspect (connect ECONNREFUSED)",
  ],
  ["an open breaker", { services: [{ ...things, breaker: "open" }] }, "BREAKER OPEN"],
  ["a feed that is down", { services: [{ ...things, feed: "down" }] }, "feed down"],
  ["a rejected supergraph", { supergraph: { ...healthy.supergraph, rejected } }, "REJECTED f01: no type Query"],
  ["no supergraph", { supergraph: { source: "a.graphql", staleSeconds: 0 } }, "none from a.graphql"],
  ["a rejected bundle", { documents: { ...healthy.documents, rejected } }, "REJECTED f01: no type Query"],
  ["no documents", { documents: { ...healthy.documents, ageSeconds: undefined } }, "none from b.json"],
  ["a process that is not ready", { status: "not ready" }, "NOT READY"],
  [
    "a pending migration",
    { database: { ...healthy.database, migrations: { applied: 1, pending: ["2"] } } },
    "PENDING 2",
  ],
  ["a store that is down", { rateLimits: { ...healthy.rateLimits, store: "unavailable" } }, "store unavailable"],
])("%s is marked, and makes the exit code 1", async (_, change, text) => {
  const url = await serve({ "/health/status": { ...healthy, ...change } });
  const [code, output] = await run(["--url", url]);
  const marked = output.split("\n").filter((line) => line.startsWith("!"));
  expect([code, marked.length]).toEqual([1, 1]);
  expect(marked[0]).toContain(text);
});

test("a process that cannot be reached is down; one without a status is ready if its health check says so", async () => {
  const url = await serve({ "/health/ready": { status: "ready" } });
  const closedPort = await pickFreePort("127.0.0.1");
  const [code, output] = await run(["--url", url, "--url", `http://127.0.0.1:${closedPort}`]);
  expect([code, output.split("\n")]).toEqual([
    1,
    [
      `  ${new URL(url).host}  ready  ${url}`,
      "",
      `! 127.0.0.1:${closedPort}  DOWN  http://127.0.0.1:${closedPort}  connect ECONNREFUSED 127.0.0.1:${closedPort}`,
      "",
    ],
  ]);
});

test("an invalid command line is rejected with the usage", async () => {
  await expect(run(["--url", "gateway"])).rejects.toThrow("is not an http(s) URL.\n\nUsage: npm run status");
  await expect(run(["--verbose"])).rejects.toThrow("Usage: npm run status");
});

async function run(args: readonly string[]): Promise<readonly [code: number, output: string]> {
  let output = "";
  const code = await showStatus({ args, environment: {}, write: (text) => void (output += text) });
  return [code, output];
}

async function serve(pages: Readonly<Record<string, object>>): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const page = pages[url];
    response.writeHead(page ? 200 : 404).end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("of a start with --only, the other parts are not down", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tributary-status-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const url = new URL(await serve({ "/health/status": healthy }));
  const run = acquireRunFile(dataDir, undefined, ["gateway"]);
  let text = "";
  const environment = { DATA_DIR: dataDir, GATEWAY_PORT: url.port };
  const write = (part: string) => void (text += part);
  expect(await showStatus({ args: [], environment, write })).toBe(0);
  expect(text).not.toContain("DOWN");
  run.release();
});
