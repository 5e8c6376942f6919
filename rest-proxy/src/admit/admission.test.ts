import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createClientFinder, toClientKey } from "./clients.ts";
import { createNetworks } from "./networks.ts";
import { createRateLimit } from "./rate-limit.ts";
import { isHost, parseTarget } from "./request-target.ts";

// The client of a request, its target, its rate limit, and input that is no request.

const finder = createClientFinder(createNetworks(["10.0.0.0/8", "2001:db8::/32"]));

function clientOf(remoteAddress: string, headers: Readonly<Record<string, string>> = {}) {
  return finder({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

test("the forwarding headers of an untrusted client are ignored", () => {
  const forwarding = { "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https" };
  expect(clientOf("203.0.113.9", forwarding)).toEqual({ address: "203.0.113.9", protocol: "http" });
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
  expect(clientOf("10.1.1.1", { "x-forwarded-for": forwarded }).address).toBe(address);
  // The second result comes from a cache.
  expect(clientOf("::ffff:10.1.1.1", { "x-forwarded-for": forwarded }).address).toBe(address);
});

test("a trusted proxy without X-Forwarded-For is the client itself", () => {
  expect(clientOf("2001:db8::7")).toEqual({ address: "2001:db8::7", protocol: "http" });
});

test.each([
  ["https", "https"],
  ["http", "http"],
  ["gopher", "http"],
])("for X-Forwarded-Proto: %s of a trusted proxy, the protocol is %s", (scheme, protocol) => {
  expect(clientOf("10.1.1.1", { "x-forwarded-proto": scheme }).protocol).toBe(protocol);
});

test("an address is correct however many were forwarded before", () => {
  for (let index = 0; index < 25_000; index++) {
    const address = `192.0.${index >> 8}.${index & 255}`;
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
])("%j is counted as %j", (address, key) => {
  expect(toClientKey(address)).toBe(key);
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

test("a target is split without decoding", () => {
  expect(parseTarget("/a/%2e?b=%zz&c[]=1")).toEqual({ path: "/a/%2e", query: "b=%zz&c[]=1", authority: undefined });
  expect(parseTarget("//a")).toEqual({ path: "//a", query: "", authority: undefined });
  expect(parseTarget("/a??b")).toEqual({ path: "/a", query: "?b", authority: undefined });
});

test("the host of a target in absolute form is separate from its path", () => {
  expect(parseTarget("HTTP://A.example:8/b?c")).toEqual({ path: "/b", query: "c", authority: "A.example:8" });
  expect(parseTarget("https://[::1]/b")).toEqual({ path: "/b", query: "", authority: "[::1]" });
  expect(parseTarget("http://a.example")).toEqual({ path: "/", query: "", authority: "a.example" });
  expect(parseTarget("http://a.example?b")).toEqual({ path: "/", query: "b", authority: "a.example" });
});

test("a target in another form is invalid", () => {
  const paths = ["", "*", "a", "a:1", "?a", "/a#b", "/a\\b", "/%", "/é", "/a?b#c"];
  const urls = ["http:///a", "http://u@a/b", "http://a b/", "ftp://a/b", "http://a\\b/"];
  for (const text of [...paths, ...urls]) expect(parseTarget(text), text).toBeUndefined();
});

test("a host is a name or an address with an optional port", () => {
  for (const text of ["a", "a.example:80", "127.0.0.1:4010", "[::1]:4010", "under_score"])
    expect(isHost(text)).toBe(true);
  for (const text of ["", "a b", "a/b", "a:b", "u@a", 'a"', "a,b", "[::1", ":80", "a:123456"])
    expect(isHost(text)).toBe(false);
});

let atMs = 1_000_000;
const nowMs = () => atMs;

function limitOf(quota: number, o: { readonly windowMs?: number; readonly clientsMax?: number } = {}) {
  const limit = createRateLimit({ quota, windowMs: 60_000, clientsMax: 1_000, nowMs, ...o });
  const admitted = (client: string, requests: number) =>
    Array.from({ length: requests }, () => limit.count(client)).filter(({ isAdmitted }) => isAdmitted).length;
  return { ...limit, admitted };
}

test.each([1, 7, 6_000])("a quota of %d requests is admitted at once, and no further request", (quota) => {
  expect(limitOf(quota).admitted("ada", quota + 5)).toBe(quota);
});

test("over time, the quota of each window is admitted, however many requests are sent", () => {
  const limit = limitOf(60);
  let count = 0;
  for (let second = 0; second < 600; second++) {
    count += limit.admitted("ada", 10);
    atMs += 1_000;
  }
  expect(count).toBe(60 + 599);
});

test("a client is admitted after retryMs, and not a millisecond sooner", () => {
  const limit = limitOf(7);
  limit.admitted("ada", 7);
  const { retryMs } = limit.count("ada");
  atMs += retryMs - 1;
  expect(limit.count("ada").isAdmitted).toBe(false);
  atMs += 1;
  expect(limit.count("ada").isAdmitted).toBe(true);
});

test("the decision contains what remains and when the whole quota is available", () => {
  const limit = limitOf(6);
  expect(limit.count("ada")).toEqual({ isAdmitted: true, remaining: 5, resetMs: 10_000, retryMs: 0 });
  atMs += 5_000;
  expect(limit.count("ada")).toEqual({ isAdmitted: true, remaining: 4, resetMs: 15_000, retryMs: 0 });
  limit.admitted("ada", 4);
  expect(limit.count("ada")).toEqual({ isAdmitted: false, remaining: 0, resetMs: 55_000, retryMs: 5_000 });
});

test("the rotation of generations grants no additional requests", () => {
  const limit = limitOf(10, { windowMs: 1_000 });
  let count = 0;
  for (let step = 0; step < 1_000; step++) {
    count += limit.admitted("ada", 3);
    atMs += 10;
  }
  expect(count).toBe(10 + 99);
});

test("a client is dropped early only if there are more than clientsMax clients", () => {
  const limit = limitOf(2, { clientsMax: 100 });
  limit.admitted("ada", 2);
  for (let other = 0; other < 99; other++) limit.count(`other ${other}`);
  expect(limit.count("ada").isAdmitted).toBe(false);
  for (let other = 0; other < 300; other++) limit.count(`further ${other}`);
  expect(limit.admitted("ada", 5)).toBe(2);
});

test("a clock that is set back blocks no client", () => {
  const limit = limitOf(6);
  limit.admitted("ada", 6);
  atMs -= 3_600_000;
  atMs += limit.count("ada").retryMs;
  expect(limit.count("ada").isAdmitted).toBe(true);
});
