import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../process/env.ts";
import { type Log, silentLog } from "../process/log.ts";
import { startMetricsListener, startAdminServer } from "./admin-server.ts";
import { createPrometheus } from "./metrics/prometheus.ts";

async function setUp(write: () => Promise<string>) {
  const server = await startAdminServer({ host: "127.0.0.1", port: 0, write, isReady: () => true });
  onTestFinished(() => server.drain());
  return server;
}

test("the admin listener serves metrics as text, and the health of the service", async () => {
  const { url } = await setUp(() => Promise.resolve("things_total 1\n"));
  const answer = await fetch(`${url}/metrics`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  expect(await answer.text()).toBe("things_total 1\n");
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
});

test("other paths are 404, and other methods 405", async () => {
  const { url } = await setUp(() => Promise.resolve(""));
  expect((await fetch(`${url}/graphql`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
});

test("a metric that cannot be read fails the scrape, not the process", async () => {
  const { url } = await setUp(() => Promise.reject(new Error("a gauge broke")));
  const answer = await fetch(`${url}/metrics`);
  expect([answer.status, await answer.text()]).toEqual([500, ""]);
});

test("the error for a port in use names its variable", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const starting = startAdminServer({ host: "127.0.0.1", port, write: () => Promise.resolve(""), isReady: () => true });
  await expect(starting).rejects.toThrow(ConfigError);
  await expect(starting).rejects.toThrow("ADMIN_PORT");
});

test("a metric with label sets that have no zero is one warning at start, with their number", async () => {
  const metrics = await createPrometheus({
    tries_total: { kind: "counter", help: "Tries.", labels: ["target"] },
    results_total: { kind: "counter", help: "Results.", labels: ["result"], expected: { result: ["ok", "bad"] } },
  });
  for (let number = 0; number < 1_428; number++) metrics.announce({ target: `target ${number}` });
  const warnings: object[] = [];
  const log: Log = { ...silentLog, info: () => {}, warn: (fields: object) => void warnings.push(fields) };
  const admin = await startMetricsListener({ adminPort: 0, adminHost: "127.0.0.1" }, { log, metrics }, () => true);
  onTestFinished(() => admin?.drain());
  expect(warnings).toEqual([{ metric: "tries_total", count: 428 }]);
});
