import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startPlannerWorker } from "../src/engine/plan/planner/planner-worker.ts";
import { sendOperation } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { type GatewayProcess, spawnGateway, spawnGatewayWithLimit, writeSupergraph } from "./helpers/process.ts";
import { respondJson } from "./helpers/subgraphs.ts";

let library: Library;
let file: string;
let gateway: GatewayProcess | undefined;

beforeAll(async () => {
  library = await startLibrary();
  file = writeSupergraph(library.supergraphSdl);
});
afterAll(() => library.close());
beforeEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
});
afterEach(async () => {
  gateway?.child.kill("SIGKILL");
  await gateway?.exited;
  gateway = undefined;
});

const blockOutgoing = ["--import", new URL("helpers/block-outgoing-calls.ts", import.meta.url).href];

async function startReady(environment: Record<string, string> = {}, options: readonly string[] = []) {
  gateway = spawnGateway({ SUPERGRAPH_FILE: file, ...environment }, options);
  const { url } = await gateway.logged(({ msg }) => msg === "listening");
  await gateway.logged(({ observation }) => observation === "supergraph-loaded");
  return { ...gateway, url: String(url) };
}

test("a supergraph is loaded although the process was paused for longer than a load may take, at start and at a swap", async () => {
  const loadTimeoutMs = 2_000;
  const sdl = library.supergraphSdl;
  const pausedFile = writeSupergraph(sdl);
  gateway = spawnGatewayWithLimit(pausedFile, loadTimeoutMs);
  const { child } = gateway;
  const pause = async (ms: number) => {
    child.kill("SIGSTOP");
    await sleep(ms);
    child.kill("SIGCONT");
  };
  const { url } = await gateway.logged(({ msg }) => msg === "listening");
  const readSchema = async () => (await fetch(`${String(url)}/schema.graphql`)).text();
  await pause(2 * loadTimeoutMs + 500);
  await expect.poll(readSchema).toContain("type Query");
  writeFileSync(pausedFile, sdl.replace("type Query", '"""Swapped"""\ntype Query'));
  // The gateway reads the file when it has not changed for 50 ms.
  await sleep(100);
  await pause(loadTimeoutMs + 500);
  await expect.poll(readSchema).toContain("Swapped");
});

test("only subgraphs get requests: no telemetry service, no registry, no cloud metadata, with any variables", async () => {
  const keys = {
    APOLLO_KEY: "service:a:b",
    APOLLO_GRAPH_REF: "a@b",
    APOLLO_SCHEMA_REPORTING: "true",
    APOLLO_TELEMETRY_DISABLED: "0",
  };
  const { url, child, exited, stderr } = await startReady(keys, blockOutgoing);
  expect((await sendOperation(`${url}/graphql`, "{ books { title stars author { name } } }")).body).not.toHaveProperty(
    "errors",
  );
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(stderr()).toBe("");
});

test("planner threads, which load no modules of --import, send no requests either", async () => {
  const urlOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    import { parentPort } from "node:worker_threads";
    process.stderr.write = (text) => parentPort.postMessage({ kind: "library-log", level: "error", text });
    await import(${urlOf("helpers/block-outgoing-calls.ts")});
    await import(${urlOf("../src/engine/plan/planner/worker-entry.ts")});`;
  const reported: string[] = [];
  const planner = startPlannerWorker({
    file: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    heapMbMax: 512,
    isFirstLoadKnown: false,
    isFirstLoadUrgent: false,
    onLogEntry: ({ level, text }) => void (level === "error" && reported.push(text)),
    onLost: ({ cause }) => void reported.push(String(cause)),
  });
  onTestFinished(() => planner.end());
  const load = { kind: "load", id: 1, supergraphSdl: library.supergraphSdl, isKnown: false } as const;
  expect(await planner.run(load, 60_000)).toMatchObject({ kind: "loaded" });
  const plan = { kind: "plan", id: 1, operationText: "{ books { title stars } }", enabledLabels: [] } as const;
  expect(await planner.run(plan, 60_000)).toMatchObject({ kind: "planned" });
  expect(reported).toEqual([]);
});

test("threads load no modules of --import, which may need the environment of the process", async () => {
  const code = 'import { isMainThread } from "node:worker_threads"; if (!isMainThread) console.error("in a thread");';
  const { child, exited, stderr } = await startReady({ ADMIN_PORT: "0" }, [
    "--import",
    `data:text/javascript,${encodeURIComponent(code)}`,
  ]);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  expect(stderr()).toBe("");
});

test("the check for outgoing calls reports connections, name lookups and datagrams", async () => {
  const calls = `
    require("node:net").connect(80, "192.0.2.1").on("error", () => {});
    require("node:dns").lookup("registry.example", () => {});
    require("node:dgram").createSocket("udp4").send("x", 53, "192.0.2.1", () => process.exit());`;
  const child = spawn(process.execPath, [...blockOutgoing, "-e", calls], { stdio: ["ignore", "ignore", "pipe"] });
  const [reported] = await Promise.all([text(child.stderr), once(child, "close")]);
  for (const call of ["connection 192.0.2.1", "lookup registry.example", "datagram 192.0.2.1"])
    expect(reported).toContain(`OUTGOING ${call}\n`);
});

test("SIGTERM resets no keep-alive client: the last response has Connection: close, and the process exits with 0", async () => {
  // Each client has to send a request within this time, or finds its connection closed.
  const { url, child, exited } = await startReady({ DRAIN_DELAY_MS: "2000" });
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  const statuses: number[] = [];
  const failures: unknown[] = [];
  let closing = 0;
  const stopping = new AbortController();
  const clients = Array.from({ length: 10 }, async () => {
    while (!stopping.signal.aborted || closing < 10) {
      const response = await post(url, agent).catch((error: NodeJS.ErrnoException) => error);
      if (response instanceof Error) {
        // The listener is closed: new connections are rejected.
        if (response.code !== "ECONNREFUSED") failures.push(response);
        return;
      }
      statuses.push(response.status);
      if (response.connection === "close") closing++;
    }
  });
  await until(() => statuses.length > 50);
  child.kill("SIGTERM");
  stopping.abort();
  await Promise.all(clients);
  expect(await exited).toBe(0);
  expect(failures).toEqual([]);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(closing).toBeGreaterThan(0);
  agent.destroy();
});

test("SIGTERM waits for responses to complete requests, and not the whole grace period for incomplete ones", async () => {
  const { url, child, exited, logged } = await startReady({ SHUTDOWN_GRACE_MS: "60000" });
  const head = "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n";
  for (const bytes of ["", head, `${head}\r\n{`]) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    socket.write(bytes);
  }
  const silent = new Promise<Parameters<typeof respondJson>[0]>((resolve) => (library.people.fault = resolve));
  const requested = sendOperation(`${url}/graphql`, "{ whoAmI }");
  const response = await silent;
  child.kill("SIGTERM");
  await logged(({ msg }) => msg === "draining");
  respondJson(response, 200, '{"data":{"whoAmI":"still here"}}');
  expect((await requested).body).toEqual({ data: { whoAmI: "still here" } });
  expect(await exited).toBe(0);
});

test("an invalid configuration is rejected with every problem, before listening", async () => {
  gateway = spawnGateway({
    PORT: "many",
    REQUEST_TIMEOUT_MS: "0",
    PROFILE: "production",
    ISSUER_URL: "http://127.0.0.1:4020",
  });
  expect(await gateway.exited).toBe(1);
  for (const name of ["PORT", "REQUEST_TIMEOUT_MS", "ISSUER_URL", "SUPERGRAPH_FILE"])
    expect(gateway.stderr()).toContain(name);
});

test("an error names a port that is in use", async () => {
  gateway = spawnGateway({ SUPERGRAPH_FILE: file, PORT: new URL(library.people.url).port });
  expect(await gateway.exited).toBe(1);
  expect(gateway.stderr()).toContain("PORT");
});

function post(url: string, agent: Agent): Promise<{ status: number; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${url}/graphql`,
      { method: "POST", agent, headers: { "content-type": "application/json" } },
      (response) => {
        response
          .resume()
          .on("end", () => resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }));
      },
    );
    request.on("error", reject).end('{"query":"{ whoAmI }"}');
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
