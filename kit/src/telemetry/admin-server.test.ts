import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../process/env.ts";
import { startServer } from "../process/lifecycle.ts";
import { type Log, silentLog } from "../process/log.ts";
import { readStatus } from "../process/process-status.ts";
import { type AdminServer, type AdminServerOptions, startAdminServer } from "./admin-server.ts";

const hourMs = 3_600_000;

test("the admin listener serves metrics as text; other paths are 404, other methods 405", async () => {
  const { url } = await start({ write: () => Promise.resolve("things_total 1\n") });
  const response = await fetch(`${url}/metrics?name[]=things_total`);
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  expect(await response.text()).toBe("things_total 1\n");
  expect(await statusesOf(url, ["/graphql", "/health/other", "/"])).toEqual([404, 404, 404]);
  expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
});

test("a metric that cannot be read fails the scrape, not the process", async () => {
  const { url } = await start({ write: () => Promise.reject(new Error("a gauge broke")) });
  const response = await fetch(`${url}/metrics`);
  expect([response.status, await response.text()]).toEqual([500, ""]);
});

test("scrapes at the same time share one reading of the metrics", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let readings = 0;
  const { url } = await start({ metricsDeadlineMs: hourMs, write: () => (readings++, promise) });
  const scrapes = Promise.all(Array.from({ length: 3 }, () => fetch(`${url}/metrics`)));
  await expect.poll(() => readings).toBe(1);
  // All three requests have arrived: the thread accepts connections in order.
  await fetch(`${url}/health/live`);
  resolve("things_total 1\n");
  expect(await Promise.all((await scrapes).map((response) => response.text()))).toEqual(
    Array.from({ length: 3 }, () => "things_total 1\n"),
  );
  expect(readings).toBe(1);
});

test("readiness is that of the server for clients: 503 before it listens and while it drains", async () => {
  const admin = await start();
  const read = async () => {
    const response = await fetch(`${admin.url}/health/ready`);
    return [response.status, await response.json()];
  };
  expect(await read()).toEqual([503, { status: "not ready" }]);
  const draining = Promise.withResolvers<void>();
  const server = await startServer({
    name: "test",
    handler: (_, response) => void response.end(),
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    readinessFields: () => ({ version: "1" }),
    close: () => draining.promise,
    drainDelayMs: 0,
    shutdownGraceMs: 0,
  });
  admin.reportReadiness(server.readiness);
  expect(await read()).toEqual([200, { status: "ready", version: "1" }]);
  const drained = server.drain();
  expect(await read()).toEqual([503, { status: "not ready", version: "1" }]);
  draining.resolve();
  await drained;
});

test("the status has the state of the process, without what may be secret", async () => {
  const admin = await start();
  const read = async (url: string) => {
    const response = await fetch(url);
    return [response.status, await response.json()];
  };
  expect(await read(`${admin.url}/status`)).toEqual([404, { status: "none" }]);
  const serve = async (servesStatus: boolean) => {
    const server = await startServer({
      name: "test",
      handler: (_, response) => void response.end(),
      host: "127.0.0.1",
      port: 0,
      log: silentLog,
      isReady: () => true,
      readState: () => ({ version: "1", revision: "r", supergraph: { ...supergraph } }),
      servesStatus,
      close: () => Promise.resolve(),
      drainDelayMs: 0,
      shutdownGraceMs: 0,
    });
    onTestFinished(() => server.drain());
    return server;
  };
  const supergraph = {
    id: "f00",
    source: "https://ada:plum@registry.example/graph?key=plum#main",
    ageSeconds: 1,
    staleSeconds: 0,
    rejected: { id: "f01", reason: "see ada@plum.example, Bearer plum", subgraphs: [] },
  };
  const inDevelopment = await serve(true);
  admin.reportStatus(inDevelopment.status);
  const expected = {
    process: "test",
    status: "ready",
    uptimeSeconds: expect.any(Number),
    version: "1",
    revision: "r",
    supergraph: {
      ...supergraph,
      source: "https://<credentials>@registry.example/graph",
      rejected: { id: "f01", reason: "see <email>, Bearer <token>", subgraphs: [] },
    },
  };
  for (const url of [`${admin.url}/status`, `${admin.url}/health/status`, `${inDevelopment.url}/health/status`])
    expect(await read(url)).toEqual([200, expected]);
  const inProduction = await serve(false);
  expect(await read(`${inProduction.url}/health/status`)).toEqual([404, { status: "unknown" }]);
});

test("the status is read while the check of readiness gets no response, as of a frozen database", async () => {
  let status: object | undefined;
  const neverReady = () => new Promise<never>(() => {});
  void readStatus("test", neverReady, () => ({ version: "1", revision: "r" })).then((read) => (status = read));
  await expect.poll(() => status).toMatchObject({ process: "test", status: "not ready", version: "1" });
});

test("while the main thread is blocked, liveness responds, and readiness and metrics are 503 after their deadlines", async () => {
  const { url, reportReadiness } = await start({
    staleAfterMs: hourMs,
    readinessDeadlineMs: 50,
    metricsDeadlineMs: 50,
  });
  reportReadiness(() => Promise.resolve({ status: "ready" }));
  const paths = ["/health/live", "/health/ready", "/metrics"];
  const late = "The main thread has not responded within 50 ms.";
  expect(fetchBlocked(url, paths)).toEqual([
    [200, '{"status":"live"}'],
    [503, JSON.stringify({ status: "not ready", reason: late })],
    [503, `${late}\n`],
  ]);
  await expect.poll(() => statusesOf(url, paths)).toEqual([200, 200, 200]);
});

test("liveness is 503 while the main thread has been blocked for too long, and 200 again afterwards", async () => {
  // The heartbeat's interval is 250 ms.
  const { url } = await start({ staleAfterMs: 1_000 });
  const [[status, body] = []] = fetchBlocked(url, ["/health/live"], 1_500);
  expect([status, body]).toEqual([
    503,
    expect.stringMatching(/^{"status":"not live","reason":"The event loop has not run for \d{4,} ms."}$/),
  ]);
  await expect.poll(() => statusesOf(url, ["/health/live"])).toEqual([200]);
});

test("a thread that ends is logged and replaced at the same port", async () => {
  const worker = JSON.stringify(new URL("admin-worker.ts", import.meta.url));
  // Only the first thread may take any port.
  const source = `import { workerData } from "node:worker_threads";
    await import(${worker});
    if (workerData.port === 0) setTimeout(() => process.exit(3), 100);`;
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, error: (...line: unknown[]) => void lines.push(line[1]) };
  const { url } = await start({ log, file: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });
  await expect.poll(() => lines).toEqual(["admin thread ended: restarting"]);
  const live = () =>
    fetch(`${url}/health/live`).then(
      ({ status }) => status,
      () => undefined,
    );
  await expect.poll(live).toBe(200);
});

test("the error for a port in use names its variable", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const starting = start({ port });
  await expect(starting).rejects.toThrow(ConfigError);
  await expect(starting).rejects.toThrow(
    `metrics: port ${port} on 127.0.0.1 is in use. Free it, or set ADMIN_PORT to another.`,
  );
});

async function start(o: Partial<AdminServerOptions> = {}): Promise<AdminServer> {
  const admin = await startAdminServer({
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    write: () => Promise.resolve(""),
    ...o,
  });
  onTestFinished(() => admin.close());
  return admin;
}

function statusesOf(url: string, paths: readonly string[]): Promise<readonly number[]> {
  return Promise.all(paths.map(async (path) => (await fetch(url + path)).status));
}

/** Requests the paths from another process, after a delay, while this thread is blocked. */
function fetchBlocked(url: string, paths: readonly string[], delayMs = 0): readonly (readonly [number, string])[] {
  const program = `
    await new Promise((resolve) => setTimeout(resolve, ${delayMs}));
    const responses = await Promise.all(${JSON.stringify(paths)}.map((path) => fetch(${JSON.stringify(url)} + path)));
    console.log(JSON.stringify(await Promise.all(responses.map(async (response) => [response.status, await response.text()]))));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  return JSON.parse(stdout) as (readonly [number, string])[];
}
