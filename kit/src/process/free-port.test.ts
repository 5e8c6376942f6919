import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { isPortFree, pickFreePort } from "./free-port.ts";

test("a chosen port is free and below those of outgoing connections", async () => {
  const port = await pickFreePort();
  expect(port).toBeGreaterThanOrEqual(20_000);
  expect(port).toBeLessThan(32_768);
  expect(await isPortFree(port)).toBe(true);
});

test("a port with a listener is not free", async () => {
  const port = await pickFreePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  expect(await isPortFree(port)).toBe(false);
  server.close();
  await once(server, "close");
});
