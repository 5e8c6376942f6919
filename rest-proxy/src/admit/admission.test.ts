import { expect, test } from "vitest";
import { createRateLimit } from "./rate-limit.ts";
import { isHost, parseTarget } from "./request-target.ts";

// The target of a request, and its rate limit.

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
