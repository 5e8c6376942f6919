import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { relayBody } from "./relay.ts";

test("a body that is there goes into the store, though the client has gone and makes no error of it", async () => {
  const client = await responseOfGone();
  const errors: Error[] = [];
  client.on("error", (error) => errors.push(error));
  const whole = await relayBody(Buffer.from("all of it"), { client, bytesMax: 9, isWanted: () => false });
  await new Promise((resolve) => setImmediate(resolve));
  expect([whole?.toString(), errors]).toEqual(["all of it", []]);
});

test("a body that is there and longer than what may be kept is not kept, and that is told", async () => {
  let tooLong = 0;
  const o = { client: undefined, isWanted: () => false, onTooLong: () => void tooLong++ };
  expect(await relayBody(Buffer.from("all of it"), { ...o, bytesMax: 8 })).toBeUndefined();
  expect(await relayBody(Buffer.from("all of it"), { ...o, bytesMax: 0 })).toBeUndefined();
  expect(tooLong).toBe(1);
});

/** The response to a client that did not wait for it. */
async function responseOfGone(): Promise<ServerResponse> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const client = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on("error", () => undefined);
  const [, response] = (await once(server, "request")) as [unknown, ServerResponse];
  client.destroy();
  await once(response, "close");
  return response;
}
