import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkResponses } from "./check-responses.ts";

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
  expect(await checkResponses(port, workload, signal)).toBe('"tag"');
});

test("a wrong response to a further request fails with the request and the response", async () => {
  const port = await listen(['"right"', '"wrong"']);
  await expect(checkResponses(port, workload, signal)).rejects.toThrow(
    /Wrong response \(posts\) to .*\/2.*\n200 "wrong"/,
  );
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
