import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttpClient, findResponseProblem } from "./http-client.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

test("a connection is reused for the next request, and closed after `Connection: close`", async () => {
  const ports: (number | undefined)[] = [];
  const client = await startClient((request, response) => {
    ports.push(request.socket.remotePort);
    if (ports.length === 2) response.setHeader("Connection", "close");
    response.end("{}");
  });
  for (let i = 0; i < 3; i++) await client.send({ method: "POST", path: "/", body: "é" });
  expect(ports[1]).toBe(ports[0]);
  expect(ports[2]).not.toBe(ports[0]);
});

test("a request that fails on a reused connection is not retried", async () => {
  let count = 0;
  const client = await startClient((request, response) => {
    if (++count === 1) response.end("{}");
    else request.socket.destroy();
  });
  await client.send({ method: "GET", path: "/" });
  await expect(client.send({ method: "GET", path: "/" })).rejects.toThrow("socket hang up");
  expect(count).toBe(2);
});

test("an incomplete response is rejected after the timeout", async () => {
  const client = await startClient((_, response) => void response.writeHead(200).write("{"), 50);
  await expect(client.send({ method: "GET", path: "/" })).rejects.toThrow(/no response in 50 ms|aborted/);
});

test.each([
  ["another status", { status: 500, text: "{}" }, "500: {}"],
  ["errors with data", { status: 200, text: '{"data":1,"errors":[]}' }, '200: {"data":1,"errors":[]}'],
  ["another body", { status: 200, text: '{"data":2}' }, '200: {"data":2}'],
  ["no JSON", { status: 200, text: "<" }, "200: <"],
  ["the expected body", { status: 200, text: '{"data":1}' }, undefined],
])("%s is checked", (_, response, problem) => {
  const isExpected = (body: unknown) => (body as { data: number }).data === 1;
  expect(findResponseProblem({ ...response, headers: {} }, [200], isExpected)).toBe(problem);
});

async function startClient(listener: RequestListener, timeoutMs?: number) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = createHttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs);
  cleanups.push(
    () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
    () => client.close(),
  );
  return client;
}
