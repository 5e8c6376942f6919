import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createAddressFinder, toAddressKey } from "./client-address.ts";
import { createNetworks } from "./networks.ts";

const findAddress = createAddressFinder(createNetworks(["10.0.0.0/8", "2001:db8::/32"]));

function addressFor(remoteAddress: string, headers: Readonly<Record<string, string>> = {}) {
  return findAddress({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

test("the forwarding headers of an untrusted client are ignored", () => {
  const forwarding = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" };
  expect(addressFor("203.0.113.9", forwarding)).toEqual({ address: "203.0.113.9", protocol: "http" });
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
])("for X-Forwarded-For: %s of a trusted proxy, the client is %s", (forwarded, address) => {
  expect(addressFor("10.1.1.1", { "x-forwarded-for": forwarded }).address).toBe(address);
  // The second result comes from a cache.
  expect(addressFor("::ffff:10.1.1.1", { "x-forwarded-for": forwarded }).address).toBe(address);
});

test("a trusted proxy without X-Forwarded-For is the client itself", () => {
  expect(addressFor("2001:db8::7")).toEqual({ address: "2001:db8::7", protocol: "http" });
});

test.each([
  ["https", "https"],
  ["http", "http"],
  ["gopher", "http"],
])("for X-Forwarded-Proto: %s of a trusted proxy, the protocol is %s", (scheme, protocol) => {
  expect(addressFor("10.1.1.1", { "x-forwarded-proto": scheme }).protocol).toBe(protocol);
});

test("an address is correct however many were forwarded before", () => {
  for (let index = 0; index < 25_000; index++) {
    const address = `192.0.${index >> 8}.${index & 255}`;
    expect(addressFor("10.1.1.1", { "x-forwarded-for": address }).address).toBe(address);
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
])("%j is counted as %j", (address, key) => {
  expect(toAddressKey(address)).toBe(`address:${key}`);
});

const networks = createNetworks(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1"]);

test("a network contains its addresses, IPv4-mapped ones too, and nothing else", () => {
  for (const address of ["10.255.0.1", "192.0.2.7", "2001:db8:1::9", "::1", "::ffff:10.1.2.3"])
    expect(networks.has(address), address).toBe(true);
  for (const address of ["11.0.0.1", "192.0.2.8", "2001:db9::1", "::2", "::ffff:11.1.2.3", "10.0.0", "ada", ""])
    expect(networks.has(address), address).toBe(false);
});

test("a network of length 0 contains all addresses", () => {
  expect(createNetworks(["0.0.0.0/0"]).has("203.0.113.9")).toBe(true);
});

test("text that is neither an address nor a network is rejected by name", () => {
  for (const text of ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "localhost", "10.0.0"])
    expect(() => createNetworks([text])).toThrow(`${JSON.stringify(text)} is neither an address nor a network`);
});

test("an empty list contains no address", () => {
  expect(createNetworks([])).toMatchObject({ isEmpty: true });
  expect(createNetworks([]).has("127.0.0.1")).toBe(false);
});
