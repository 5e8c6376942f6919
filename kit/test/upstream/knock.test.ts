import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { knock } from "../../src/upstream/knock.ts";
import { startFrozen } from "../../src/testing/frozen.ts";

const at = (host: string, port: number, addresses: readonly string[] = []) => ({
  name: "a replica",
  origin: `http://${host}:${port}`,
  path: "/",
  addresses,
});

test("somebody who listens is there, by address, by IPv6 address and by a name with addresses", async () => {
  const bytes: Promise<number>[] = [];
  const server = createServer((socket) => void bytes.push(countBytes(socket))).listen(0, "::");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await knock(at("127.0.0.1", port), 1_000)).toBe(true);
  expect(await knock(at("[::1]", port), 1_000)).toBe(true);
  expect(await knock(at("service.test", port, ["127.0.0.1"]), 1_000)).toBe(true);
  // No connection stays.
  expect(await Promise.all(bytes)).toEqual([0, 0, 0]);
});

test("where nobody listens nobody is there", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  expect(await knock(at("127.0.0.1", port), 1_000)).toBe(false);
});

// A listener with a full queue answers no further SYN, as an address that nobody has any more.
test.runIf(process.platform === "linux")(
  "where nothing answers nobody is there, after the time that was given",
  async () => {
    const port = await startFrozen();
    const beganMs = performance.now();
    expect(await knock(at("127.0.0.1", port), 200)).toBe(false);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(190);
  },
);

/** What comes until the connection ends. */
async function countBytes(socket: Socket): Promise<number> {
  await once(socket.resume(), "close");
  return socket.bytesRead;
}
