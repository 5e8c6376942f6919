import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { toClientHeaders, toServiceHeaders } from "./headers.ts";

const about = { requestId: "r", host: undefined, bodyBytes: undefined, isNegotiated: false, isForOthers: false };

test("what is for others says nothing of who asked, and what is negotiated says what came of it", () => {
  const headers = { accept: "text/x", "accept-encoding": "zstd", "accept-language": "de", via: "1.1 p" };
  const request = { headers, httpVersion: "1.1", socket: { remoteAddress: "10.0.0.7" } };
  const asked = (more: object) =>
    toRecord(toServiceHeaders(request as unknown as IncomingMessage, { ...about, host: "a", ...more }));
  expect(Object.keys(asked({ isForOthers: true })).filter((name) => /forwarded/.test(name))).toEqual([]);
  expect(asked({ isForOthers: true })).toMatchObject({ ...headers, via: "1.1 p, 1.1 tributary-rest-proxy" });
  expect(asked({ isNegotiated: true })).toMatchObject({
    ...{ accept: "application/json", "accept-encoding": "identity", "accept-language": "de" },
    ...{ forwarded: 'for=10.0.0.7;host="a";proto=http', "x-forwarded-for": "10.0.0.7" },
  });
});

test("an IPv6 caller is quoted in Forwarded, one mapped from IPv4 is not (RFC 7239, 4)", () => {
  expect(forwardedFor("2001:db8::1")).toBe('for="[2001:db8::1]";proto=http');
  expect(forwardedFor("::ffff:10.0.0.7")).toBe("for=10.0.0.7;proto=http");
  expect(forwardedFor(undefined)).toBe("for=unknown;proto=http");
});

test("a connection with TLS is told as https", () => {
  const request = { headers: {}, httpVersion: "1.1", socket: { remoteAddress: "10.0.0.7", encrypted: true } };
  const headers = toServiceHeaders(request as unknown as IncomingMessage, { ...about, host: "a", bodyBytes: 3 });
  expect(toRecord(headers)).toMatchObject({
    "x-forwarded-proto": "https",
    "content-length": "3",
    "x-forwarded-host": "a",
  });
});

test("an answer loses what was meant for one connection, and keeps the rest", () => {
  const one = ["Connection", "x-a,  X-B ,", "X-A", "1", "x-b", "2", "X-C", "3"];
  const two = [
    "connection",
    "x-d",
    "x-d",
    "4",
    "Transfer-Encoding",
    "chunked",
    "ETag",
    '"1"',
    "Link",
    "a",
    "Link",
    "b",
  ];
  expect(toClientHeaders([...one, ...two])).toEqual(["X-C", "3", "ETag", '"1"', "Link", "a", "Link", "b"]);
});

function forwardedFor(remoteAddress: string | undefined): unknown {
  const request = { headers: {}, httpVersion: "1.1", socket: { remoteAddress } };
  return toRecord(toServiceHeaders(request as unknown as IncomingMessage, about))["forwarded"];
}

function toRecord(headers: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : [])));
}
