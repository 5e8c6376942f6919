import { expect, test } from "vitest";
import { isHost, parseTarget } from "./request-target.ts";

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
