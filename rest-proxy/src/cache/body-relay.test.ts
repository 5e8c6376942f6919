import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { endWith, relayBody } from "./body-relay.ts";

test("a complete body is returned although the client has disconnected, without an error", async () => {
  const client = await disconnectedResponse();
  const errors: Error[] = [];
  client.on("error", (error) => errors.push(error));
  const whole = await relayBody(Buffer.from("all of it"), { client, bytesMax: 9, isWanted: () => false });
  await new Promise((resolve) => setImmediate(resolve));
  expect([whole?.toString(), errors]).toEqual(["all of it", []]);
});

test("a complete body longer than bytesMax is not returned, and reported as too long", async () => {
  let tooLong = 0;
  const o = { client: undefined, isWanted: () => false, onTooLong: () => void tooLong++ };
  expect(await relayBody(Buffer.from("all of it"), { ...o, bytesMax: 8 })).toBeUndefined();
  expect(await relayBody(Buffer.from("all of it"), { ...o, bytesMax: 0 })).toBeUndefined();
  expect(tooLong).toBe(1);
});

/** The response to a client that has disconnected. */
async function disconnectedResponse(): Promise<ServerResponse> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on("error", () => undefined);
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  client.destroy();
  await once(response, "close");
  return response;
}

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test.each([
  ["no body", undefined],
  ["an empty body", Buffer.of()],
  ["every byte value", allBytes],
  ["the longest that is written as text", Buffer.alloc(8_192, allBytes)],
  ["the shortest that is not", Buffer.alloc(8_193, allBytes)],
])("a body arrives byte for byte: %s", async (_name, body) => {
  const length = String(body?.length ?? 0);
  const server = createServer((_request, serverResponse) => {
    serverResponse.writeHead(200, ["Content-Length", length]);
    endWith(serverResponse, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(body ?? Buffer.of());
});
