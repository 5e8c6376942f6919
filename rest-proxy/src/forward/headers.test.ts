import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { expect, test } from "vitest";
import { asAppError } from "../errors/service-failure.ts";
import { toClientHeaders, toServiceHeaders } from "./headers.ts";

const client = { address: "10.0.0.7", protocol: "http" } as const;
const context = {
  requestId: "r",
  traceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
  client,
  host: undefined,
  bodyBytes: undefined,
  isRead: false,
  contentType: undefined,
  mayBeShared: false,
};

test("a shared request does not identify its client, and a request has the negotiated media type, a read also the coding", () => {
  const headers = { accept: "text/x", "accept-encoding": "zstd", "accept-language": "de", via: "1.1 p" };
  const request = { headers, httpVersion: "1.1" };
  const headersWith = (more: object) =>
    toRecord(toServiceHeaders(request as unknown as IncomingMessage, { ...context, host: "a", ...more }));
  expect(Object.keys(headersWith({ mayBeShared: true })).filter((name) => /forwarded/.test(name))).toEqual([]);
  expect(headersWith({ mayBeShared: true })).toMatchObject({
    ...{ ...headers, accept: "application/json" },
    via: "1.1 p, 1.1 tributary-rest-proxy",
  });
  expect(headersWith({ isRead: true })).toMatchObject({
    ...{ accept: "application/json", "accept-encoding": "identity", "accept-language": "de" },
    ...{ forwarded: 'for=10.0.0.7;host="a";proto=http', "x-forwarded-for": "10.0.0.7" },
  });
});

test("a shared request has no cookie, since its response may be for other clients", () => {
  const request = { headers: { cookie: "a=1" }, httpVersion: "1.1" } as unknown as IncomingMessage;
  const cookieOf = (mayBeShared: boolean) => toRecord(toServiceHeaders(request, { ...context, mayBeShared }))["cookie"];
  expect([cookieOf(true), cookieOf(false)]).toEqual([undefined, "a=1"]);
});

test("an IPv6 client is quoted in Forwarded, an IPv4 one is not (RFC 7239, 4)", () => {
  expect(forwardedFor("2001:db8::1")).toBe('for="[2001:db8::1]";proto=http');
  expect(forwardedFor("10.0.0.7")).toBe("for=10.0.0.7;proto=http");
  expect(forwardedFor("")).toBe("for=unknown;proto=http");
});

test("a client that uses TLS is forwarded as https", () => {
  const request = { headers: {}, httpVersion: "1.1" } as unknown as IncomingMessage;
  const more = { client: { ...client, protocol: "https" }, host: "a", bodyBytes: 3 } as const;
  const headers = toServiceHeaders(request, { ...context, ...more });
  expect(toRecord(headers)).toMatchObject({
    "x-forwarded-proto": "https",
    "content-length": "3",
    "x-forwarded-host": "a",
  });
});

test("hop-by-hop headers are removed from a response, others are kept", () => {
  const first = ["Connection", "x-a,  X-B ,", "X-A", "1", "x-b", "2", "X-C", "3"];
  const second = ["connection", "x-d", "x-d", "4", "Transfer-Encoding", "chunked"];
  const kept = ["ETag", '"1"', "Link", "a", "Link", "b"];
  expect(toClientHeaders([...first, ...second, ...kept], 200)).toEqual(["X-C", "3", ...kept]);
});

function forwardedFor(address: string): unknown {
  const request = { headers: {}, httpVersion: "1.1" } as unknown as IncomingMessage;
  return toRecord(toServiceHeaders(request, { ...context, client: { ...client, address } }))["forwarded"];
}

function toRecord(headers: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : [])));
}

test("a failed connection or lookup, and invalid HTTP, mean that the service is unreachable", () => {
  const codes = [
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ETIMEDOUT",
    "EPIPE",
    "HPE_INVALID_CONSTANT",
    "UND_ERR_SOCKET",
  ];
  for (const code of codes) {
    const cause = Object.assign(new Error("connect 10.0.0.7:4001"), { code });
    const error = asAppError(cause);
    expect(error).toMatchObject({ code: "BAD_GATEWAY", retryAfterSeconds: 5, cause });
    expect(error.message).not.toContain("10.0.0.7");
  }
});

test.each([
  new TypeError("x is not a function"),
  Object.assign(new Error("bad header"), { code: "ERR_INVALID_CHAR" }),
  "text",
  undefined,
])("%s is a bug of the proxy", (error) => {
  expect(asAppError(error)).toMatchObject({
    code: "INTERNAL_SERVER_ERROR",
    message: "Internal error. Retry later.",
  });
});

test("an AppError is unchanged", () => {
  const error = new AppError("GATEWAY_TIMEOUT", "Late.");
  expect(asAppError(error)).toBe(error);
});
