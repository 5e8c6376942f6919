import { expect, test } from "vitest";
import { createProxyHeaders } from "../admit/exchange.ts";
import { addProxyHeaders } from "./proxy-headers.ts";

test("the proxy's headers come after the service's, a second Link beside the first", () => {
  const proxyHeaders = {
    ...createProxyHeaders(),
    onEvery: ["Link", "<b>"],
    onResource: ["Content-Location", "/v1/a"],
  };
  expect(addProxyHeaders(["Link", "<a>", "ETag", '"1"'], proxyHeaders)).toEqual([
    ...["Link", "<a>", "ETag", '"1"', "Link", "<b>"],
    ...["Content-Location", "/v1/a"],
  ]);
});

test.each([
  [[], ["Origin", "Accept"], ["Vary", "Origin, Accept"]],
  [["vary", "Accept-Encoding"], ["Origin"], ["Vary", "Origin, Accept-Encoding"]],
  [
    ["Vary", "origin , a", "vary", "A"],
    ["Origin", "Accept"],
    ["Vary", "origin, Accept, A"],
  ],
  [["Vary", "*"], [], ["Vary", "*"]],
])("the service's %j and the proxy's %j become one Vary line without duplicates: %j", (service, vary, expected) => {
  expect(addProxyHeaders([...service], { ...createProxyHeaders(), vary })).toEqual(expected);
});

test.each([
  ["application/json", "application/vnd.tributary.v2+json"],
  ["application/json; charset=utf-8", "application/vnd.tributary.v2+json"],
  ["application/problem+json", "application/problem+json"],
  ["application/jsonl", "application/jsonl"],
])("if the client negotiated the vendor media type, %s becomes %s", (service, expected) => {
  const proxyHeaders = { ...createProxyHeaders(), mediaType: "application/vnd.tributary.v2+json" };
  expect(addProxyHeaders(["content-type", service], proxyHeaders)).toEqual(["content-type", expected]);
});
