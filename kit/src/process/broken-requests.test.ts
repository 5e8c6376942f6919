import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/test-server.ts";
import { rejectBrokenRequests } from "./broken-requests.ts";
import type { RunningServer } from "./lifecycle.ts";

const start = "POST / HTTP/1.1\r\nHost: a\r\n";
const sized = `${start}Content-Length: 2\r\n\r\n`;
const chunked = `${start}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`;

test.each([
  { part: "the rest of its head", sent: sized.slice(0, -1), rest: "\n{}" },
  { part: "the rest of its body", sent: `${sized}{`, rest: "}" },
  { part: "its last chunk", sent: chunked, rest: "\r\n" },
  { part: "its rest with a further request", sent: `${sized}{`, rest: `}${sized}{}` },
])("a request that was rejected as too late is not processed when $part arrives afterwards", async (o) => {
  let completed = 0;
  const { port } = await startRejecting((request) => request.resume().on("end", () => completed++), 50);
  const client = await open(port, o.sent);
  client.once("data", () => client.write(o.rest));
  expect(await text(client)).toMatch(/^HTTP\/1\.1 408 /);
  await once(client, "close");
  expect(completed).toBe(0);
});

test("a client that sends megabytes after a malformed head can read the rejection", async () => {
  const { port } = await startRejecting(() => {});
  const client = await open(port, "POST / HTTP/1.1\r\nHost: a\r\nA b\r\n\r\n");
  // Resolves when the kernel has taken everything: the server reads it.
  await new Promise<void>((resolve, reject) => {
    client.write(Buffer.alloc(20_000_000), (error) => (error ? reject(error) : resolve()));
  });
  expect(await text(client)).toMatch(/^HTTP\/1\.1 400 /);
});

test("a CONNECT behind a pending response closes the connection, and nothing remains pending", async () => {
  const pending = Promise.withResolvers<void>();
  const { port, drain } = await startRejecting(() => pending.resolve());
  const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const client = await open(port, `${get}${get}`);
  await pending.promise;
  client.write("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
  await once(client, "close");
  // Waits for the pending responses.
  await drain();
});

function startRejecting(handler: RequestListener, timeoutMs = 60_000): Promise<RunningServer> {
  return startTestServer({
    handler,
    headersTimeoutMs: timeoutMs,
    requestTimeoutMs: timeoutMs,
    prepare(http: Server, pendingResponses) {
      rejectBrokenRequests(http, pendingResponses, (_socket, code) => {
        const isLate = code === "ERR_HTTP_REQUEST_TIMEOUT";
        return { status: isLate ? 408 : 400, headers: [], body: "rejected" };
      });
    },
  });
}

async function open(port: number, sent: string): Promise<Socket> {
  const client = connect(port, "127.0.0.1");
  await once(client, "connect");
  client.write(sent);
  return client;
}
