import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { chooseContentCoding, chooseMediaType, contentCodings, parseAccept } from "./accept.ts";
import { createCors } from "./cors.ts";
import { parseHttpDate } from "./http-date.ts";
import {
  findHeader,
  findHeaderIndex,
  forEachHeader,
  hasHeader,
  joinHeaderLines,
  listHeaderValues,
  parseTokens,
  splitLinks,
  withoutHeaders,
} from "./raw-headers.ts";
import { readRequestId } from "./request-id.ts";
import { clearSampledFlag, createTraceParent, isTraceParent, readUnsampledTrace } from "./trace-context.ts";

const headers = ["Vary", "Accept", "ETag", '"1"', "VARY", "Origin", "X-ETag", "etag"];

test("a field is found by its name in any case, never by a value", () => {
  expect(findHeader(headers, "etag")).toBe('"1"');
  expect(findHeader(headers, "vary")).toBe("Accept");
  expect(findHeader(headers, "accept")).toBeUndefined();
  expect([findHeaderIndex(headers, "etag"), findHeaderIndex(headers, "origin")]).toEqual([2, -1]);
  expect([hasHeader(headers, "x-etag"), hasHeader(headers, "age")]).toEqual([true, false]);
});

test("repeated lines stay in order, and are joined as one list (RFC 9110, 5.3)", () => {
  expect(listHeaderValues(headers, "vary")).toEqual(["Accept", "Origin"]);
  expect(joinHeaderLines(headers, "vary")).toBe("Accept, Origin");
  expect(joinHeaderLines(headers, "age")).toBeUndefined();
});

test("fields are dropped by their names in lower case, the others remain as they are", () => {
  expect(withoutHeaders(headers, (name) => name === "vary")).toEqual(["ETag", '"1"', "X-ETag", "etag"]);
});

test("each line is visited with its name as it was sent", () => {
  const lines: string[] = [];
  forEachHeader(headers, (name, value) => void lines.push(`${name}: ${value}`));
  expect(lines).toEqual(["Vary: Accept", 'ETag: "1"', "VARY: Origin", "X-ETag: etag"]);
});

test("tokens are in lower case; empty elements are ignored (RFC 9110, 5.6.1)", () => {
  expect(parseTokens("Keep-Alive, , X-Hop,")).toEqual(["keep-alive", "x-hop"]);
  expect(parseTokens(undefined)).toEqual([]);
});

test("links are separated by commas, which their URLs may contain too", () => {
  const links = ["</a,b>; rel=next", '</c>; rel="prev"', "</d>"];
  expect(splitLinks(links.join(", "))).toEqual(links);
  expect(splitLinks(links.join(","))).toEqual(links);
});

test.each([
  [
    "br;q=0.5 , GZIP; Q=0.25",
    [
      ["br", 0.5],
      ["gzip", 0.25],
    ],
  ],
  ['application/json;q="0.5"', [["application/json", 0.5]]],
  ['text/html;title="a,b;q=0.1"', [["text/html", 1]]],
  ['text/html;title="a\\",b";q=0.2', [["text/html", 0.2]]],
  [
    ", gzip,, br ,",
    [
      ["gzip", 1],
      ["br", 1],
    ],
  ],
  ["gzip;q=.2", [["gzip", 0.2]]],
  ["gzip;q=nonsense", [["gzip", 1]]],
  ["gzip;q=2", [["gzip", 1]]],
  ["gzip;q=", [["gzip", 1]]],
  [" , ", []],
])("%s has these names and weights (RFC 9110, 5.6.1, 5.6.4 and 12.4.2)", (header, expected) => {
  expect(parseAccept(header).map(({ name, quality }) => [name, quality])).toEqual(expected);
});

test("parameters are read by name in any case, without their quotes", () => {
  const [range] = parseAccept('application/json; Version="\\2";q=0.5');
  expect([range?.parameter("version"), range?.parameter("q"), range?.parameter("profile")]).toEqual([
    "2",
    "0.5",
    undefined,
  ]);
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["deflate", undefined],
  ["deflate, zstd", "zstd"],
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip, br", "br"],
  ["zstd;q=0.9, br", "br"],
  ["zstd;q=0, *", "br"],
  ["gzip;q=1, br;q=0.5", "gzip"],

  ["*", "zstd"],
  ["br;q=0, zstd;q=0, *", "gzip"],
  ["*;q=0", undefined],
  ["gzip, gzip;q=0", "gzip"],
  ["identity;q=1, gzip;q=0.5", undefined],
  ["br;q=0.5, identity", undefined],
  ["br, identity", "br"],
  ["identity;q=0.5, *;q=0.2", undefined],
])("Accept-Encoding %s selects %s (RFC 9110, 12.5.3)", (acceptEncoding, encoding) => {
  expect(chooseContentCoding(acceptEncoding, contentCodings)).toBe(encoding);
});

test.each([
  [undefined, "application/json"],
  [",", "application/json"],
  ["text/html", "text/html"],
  ["text/*", "text/html"],

  ['text/html;q="0.5", application/json;q=0.4', "text/html"],

  ["application/json;q=0, */*", "text/html"],
  ["*/*, application/json;q=0.1", "text/html"],
  ["text/html, application/json", "text/html"],
  ["*/*, text/html", "text/html"],
  ["application/json;q=0", undefined],
  ["image/*", undefined],
])("Accept %s selects %s (RFC 9110, 12.5.1)", (accept, type) => {
  expect(chooseMediaType(accept, ["application/json", "text/html"])).toBe(type);
});

const nowMs = Date.UTC(2026, 10, 21);

test.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
  ["Thursday, 18-Aug-50 02:01:18 GMT", "2050-08-18T02:01:18.000Z"],
  ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.000Z"],
  ["SUN, 06 nOV 1994 08:49:37 gMT", "1994-11-06T08:49:37.000Z"],
  ["Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00.000Z"],
])("%s is an HTTP-date, in any case (RFC 9110, 5.6.7; RFC 9111, 4.2)", (text, date) => {
  expect(new Date(parseHttpDate(text, nowMs) ?? 0).toISOString()).toBe(date);
});

test.each([
  ["0"],
  ["Sun, 06 Nov 1994 08:49:37 UTC"],
  ["Sun, 6 Nov 1994 08:49:37 GMT"],

  ["Sun 06 Nov 1994 08:49:37 GMT"],
  ["Thu, 31 Feb 2050 08:49:37 GMT"],
  ["Sun, 06 Nov 1994 25:49:37 GMT"],
  ["Sun, 06 Nov 1994 08:60:37 GMT"],
  ["Sun, 06 Nov 1994 08:49:61 GMT"],
])("%s is not an HTTP-date", (text) => {
  expect(parseHttpDate(text, nowMs)).toBeUndefined();
});

const traceId = "0af7651916cd43dd8448eb211c80319c";

test.each([
  [`00-${traceId}-b7ad6b7169203331-01`, `00-${traceId}-b7ad6b7169203331-00`],
  [`00-${traceId}-b7ad6b7169203331-00`, `00-${traceId}-b7ad6b7169203331-00`],
  [`00-${traceId}-b7ad6b7169203331-03`, `00-${traceId}-b7ad6b7169203331-02`],
  [`cc-${traceId}-b7ad6b7169203331-01-later-fields`, `cc-${traceId}-b7ad6b7169203331-00-later-fields`],
])("%s continues the caller's trace; a process that does not record it sends %s", (header, forwarded) => {
  expect(isTraceParent(header)).toBe(true);
  expect(readUnsampledTrace(header)).toEqual({ traceId, flags: "00" });
  expect(clearSampledFlag(header)).toBe(forwarded);
});

test.each([
  undefined,
  "",
  [`00-${traceId}-b7ad6b7169203331-01`],
  `ff-${traceId}-b7ad6b7169203331-01`,
  `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
  `00-${traceId}-b7ad6b7169203331-01x`,
  `00-${traceId}-b7ad6b7169203331`,
  `cc-${traceId}-b7ad6b7169203331-01-${"x".repeat(600)}`,
])("%s starts a new trace that is not sampled", (header) => {
  expect(isTraceParent(header)).toBe(false);
  const trace = readUnsampledTrace(header);
  expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(trace.traceId).not.toBe(traceId);
  expect(trace.flags).toBe("00");
});

test("every request to a service gets its own span id", () => {
  const [first, second] = [1, 2].map(() => createTraceParent({ traceId, flags: "01" }));
  expect(first).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  expect(first).not.toBe(second);
});

test("a request id that is valid for logs is accepted, any other is replaced", () => {
  expect(readRequestId("abc-123")).toBe("abc-123");
  for (const bad of [undefined, "", "a b", "x".repeat(129), "a\nb", ["a", "b"]])
    expect(readRequestId(bad)).toMatch(/^[\da-f-]{36}$/);
});

const lists = { allowedHeaders: ["if-match"], exposedHeaders: ["etag", "link"] };
const exposed = "consistency-token, retry-after, traceparent, www-authenticate, x-request-id, etag, link";

test.each([
  [["https://app.example"], "https://app.example", "https://app.example"],
  [["https://app.example"], "https://app.example.evil", undefined],
  [["https://app.example"], "http://app.example", undefined],
  [["http://localhost:*"], "http://localhost:5173", "http://localhost:5173"],
  [["http://localhost:*"], "http://localhost", "http://localhost"],
  [["http://localhost:*"], "http://localhost.evil:80", undefined],
  [["http://localhost:*"], "http://localhost:80@evil", undefined],
  [["http://localhost:*"], "null", undefined],
  [["https://*.app.example"], "https://a.app.example", "https://a.app.example"],
  [["https://*.app.example"], "https://a.b.app.example", undefined],
  [["https://*.app.example"], "https://app.example", undefined],
  [["https://*.app.example"], "https://a-app.example", undefined],
  [["https://*.app.example"], "https://a.app.example:8443", undefined],
  [["https://*.app.example:*"], "https://a.app.example:8443", "https://a.app.example:8443"],
  [["*"], "https://any.example", "*"],
  [[], "https://app.example", undefined],
])("with the allowed origins %j, %s gets %s", (origins, origin, allowed) => {
  const response = respond(origins, { origin });
  expect(response.getHeader("access-control-allow-origin")).toBe(allowed);
  expect(response.getHeader("access-control-expose-headers")).toBe(allowed && exposed);
  expect(response.hasHeader("access-control-allow-credentials")).toBe(false);
});

test("responses differ by origin unless every origin is allowed", () => {
  expect(createCors({ origins: [{ pattern: "https://app.example" }], ...lists }).varies).toBe(true);
  expect(createCors({ origins: [{ pattern: "*" }], ...lists }).varies).toBe(false);
});

test("with *, a response to a request without an Origin may be stored for pages", () => {
  const response = respond(["*"], {});
  expect(response.getHeader("access-control-allow-origin")).toBe("*");
  expect(response.getHeader("access-control-expose-headers")).toBe(exposed);
});

test("the preflight of an allowed origin gets the allowed methods and headers, that of another origin none", () => {
  const preflight = { "access-control-request-method": "POST" };
  const allowed = respond(["https://app.example"], { origin: "https://app.example", ...preflight });
  expect(allowed.getHeader("access-control-allow-methods")).toBe("GET, POST");
  expect(allowed.getHeader("access-control-allow-headers")).toMatch(/authorization.*sentry-trace.*if-match/);
  const other = respond(["https://app.example"], { origin: "https://other.example", ...preflight });
  expect(other.getHeaderNames().filter((name) => name.startsWith("access-control"))).toEqual([]);
  const plain = respond(["https://app.example"], { origin: "https://app.example" });
  expect(plain.hasHeader("access-control-allow-methods")).toBe(false);
});

test("credentials are allowed for the origins that may send them, and for no other", () => {
  const cors = createCors({
    origins: [{ pattern: "https://a.example", allowsCredentials: true }, { pattern: "https://b.example" }],
    ...lists,
  });
  expect(cors.headersFor("https://a.example")).toContain("Access-Control-Allow-Credentials");
  expect(cors.headersFor("https://b.example")).not.toContain("Access-Control-Allow-Credentials");
  expect(cors.headersFor("https://c.example")).toEqual([]);
});

function respond(origins: readonly string[], headers: Record<string, string>): ServerResponse {
  const request = new IncomingMessage(new Socket());
  request.method = "OPTIONS";
  Object.assign(request.headers, headers);
  const response = new ServerResponse(request);
  const cors = createCors({ origins: origins.map((pattern) => ({ pattern })), ...lists });
  forEachHeader(cors.headersFor(request.headers.origin), (name, value) => void response.setHeader(name, value));
  cors.permitPreflight(request, response, "GET, POST");
  return response;
}
