import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { measureLoad } from "./measure-load.ts";

test.runIf(process.platform === "linux")("each process has its requests, CPU time and memory", async () => {
  const ports = [
    await listen((_, response) => response.end("abc")),
    await listen((_, response) => response.end("abc")),
  ];
  const report = await measure(ports);
  expect(report.processes).toHaveLength(2);
  for (const { requests, cpuSeconds, rssBytesMax } of report.processes) {
    expect(requests).toBeGreaterThan(10);
    expect(cpuSeconds).toBeGreaterThan(0.01);
    expect(rssBytesMax).toBeGreaterThan(10_000_000);
  }
});

test.runIf(process.platform === "linux")("a response with another status fails the measurement", async () => {
  let responses = 0;
  const port = await listen((_, response) => response.writeHead((responses += 1) === 9 ? 503 : 200).end("abc"));
  await expect(measure([port])).rejects.toThrow("1 wrong responses under load, the first with status 503");
});

test.runIf(process.platform === "linux")("two processes with responses of different lengths fail", async () => {
  const ports = [await listen((_, response) => response.end("abc")), await listen((_, response) => response.end("a"))];
  await expect(measure(ports)).rejects.toThrow("wrong responses under load, the first with status 200");
});

function measure(ports: readonly number[]) {
  const times = { warmUpMs: 50, windowMs: 100 };
  const load = {
    requests: [{ path: "/" }],
    primingRequests: [],
    connections: 2,
    order: "in turn",
    probeEveryMs: 0,
  } as const;
  const processes = ports.map((port) => ({ port, pid: process.pid }));
  return measureLoad({ ...load, ...times, processes, expectedStatus: 200 }, () => {});
}

/** Resolves with the port. */
async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
