import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkResponses } from "../cells/check-responses.ts";
import { parseBusySecondsOfCores, parseProcessCpuSeconds, parseRssBytes } from "./proc.ts";
import { median, quantile } from "./quantile.ts";

const workload = {
  name: "posts",
  title: "posts",
  requests: [{ path: "/1" }, { path: "/2" }],
  connections: 1,
  order: "in turn",
  isRight: (body: unknown) => body === "right",
} as const;

const { signal } = new AbortController();

test("the first response may be wrong until the process is ready", async () => {
  const port = await listen(['"starting"', '"right"', '"right"']);
  const lengths = [0, 1].map((requestIndex) => ({ requestIndex, bodyBytes: 7 }));
  expect(await checkResponses(port, workload, signal)).toEqual({ etag: '"tag"', lengths });
});

test("a wrong response to a further request fails with the request and the response", async () => {
  const port = await listen(['"right"', '"wrong"']);
  await expect(checkResponses(port, workload, signal)).rejects.toThrow(
    /Wrong response \(posts\) to .*\/2.*\n200 "wrong"/,
  );
});

test("a process's CPU time is its user and system time, even if its name contains spaces and parentheses", () => {
  const stat = "4242 (node (main) 1 2 3) S 1 4242 4242 0 -1 4194560 9000 0 3 0 1234 66 7 8 20 0 11 0 500 900000 2000";
  expect(parseProcessCpuSeconds(stat)).toBe(13);
});

test("resident memory is counted in pages", () => {
  expect(parseRssBytes("250000 1000 800 20 0 5000 0")).toBe(4_096_000);
});

test("the busy time of a core excludes idle, iowait and steal time", () => {
  const stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 10 50 7000 300 5 35 900 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 1\n";
  expect(parseBusySecondsOfCores(stat)).toEqual([2, 0.01]);
});

test("a median or quantile is interpolated between the two nearest numbers, after sorting by size", () => {
  expect(median([10, 9, 100])).toBe(10);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(quantile([0, 10], 0.25)).toBe(2.5);
  expect(quantile([1, Infinity, Infinity], 1)).toBe(Infinity);
  expect(median([])).toBeNaN();
});

/** A server that sends these bodies in turn. Resolves with the port. */
async function listen(bodies: readonly string[]): Promise<number> {
  const remaining = [...bodies];
  const server = createServer((_, response) => void response.writeHead(200, { ETag: '"tag"' }).end(remaining.shift()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
