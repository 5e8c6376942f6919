import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createClientFinder, toCaller } from "./clients.ts";
import { createNetworks } from "./networks.ts";

const finder = createClientFinder(createNetworks(["10.0.0.0/8", "2001:db8::/32"]));

function clientOf(remoteAddress: string, headers: Readonly<Record<string, string>> = {}) {
  return finder({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

test("who is not trusted cannot say who it is", () => {
  const said = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" };
  expect(clientOf("203.0.113.9", said)).toEqual({ address: "203.0.113.9", protocol: "http" });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["198.51.100.4, 192.0.2.1", "192.0.2.1"],
  ["192.0.2.1, 10.2.2.2, 10.3.3.3", "192.0.2.1"],
  ["10.2.2.2, 10.3.3.3", "10.2.2.2"],
  ["192.0.2.1:4711", "192.0.2.1"],
  ["[2001:db9::5]:4711", "2001:db9::5"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["192.0.2.1, unknown", "10.1.1.1"],
  ["192.0.2.1, , 10.3.3.3", "10.3.3.3"],
  ["", "10.1.1.1"],
])("of a trusted balancer's %j, %s asks", (forwarded, address) => {
  expect(clientOf("10.1.1.1", { "x-forwarded-for": forwarded }).address).toBe(address);
  // Once more: what is remembered is the same.
  expect(clientOf("::ffff:10.1.1.1", { "x-forwarded-for": forwarded }).address).toBe(address);
});

test("a trusted balancer that says nothing of its client is the client", () => {
  expect(clientOf("2001:db8::7")).toEqual({ address: "2001:db8::7", protocol: "http" });
});

test.each([
  ["https", "https"],
  ["http", "http"],
  ["gopher", "http"],
])("of a trusted balancer's scheme %j, it is %s", (said, protocol) => {
  expect(clientOf("10.1.1.1", { "x-forwarded-proto": said }).protocol).toBe(protocol);
});

test("each address is read as it stands, however many were forwarded before", () => {
  for (let one = 0; one < 25_000; one++) {
    const address = `192.0.${one >> 8}.${one & 255}`;
    expect(clientOf("10.1.1.1", { "x-forwarded-for": address }).address).toBe(address);
  }
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::9", "2001:db8:1:2"],
  ["2001:db8::9", "2001:db8:0:0"],
  ["2001:0db8:0000:0002::1", "2001:db8:0:2"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["1::", "1:0:0:0"],
  ["", ""],
])("%j is counted as %j", (address, caller) => {
  expect(toCaller(address)).toBe(caller);
});
