import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createCors } from "./cors.ts";

const lists = { allowedHeaders: ["authorization"], exposedHeaders: ["etag", "link"] };

test.each([
  [["https://app.example"], "https://app.example", "https://app.example"],
  [["https://app.example"], "https://app.example.evil", undefined],
  [["https://app.example"], "http://app.example", undefined],
  [["http://localhost:*"], "http://localhost:5173", "http://localhost:5173"],
  [["http://localhost:*"], "http://localhost", "http://localhost"],
  [["http://localhost:*"], "http://localhost.evil:80", undefined],
  [["http://localhost:*"], "http://localhost:80@evil", undefined],
  [["http://localhost:*"], "null", undefined],
  [["*"], "https://any.example", "*"],
  [[], "https://app.example", undefined],
])("with the allowed origins %j, %s gets %s", (origins, origin, allowed) => {
  const response = respond(origins, { origin });
  expect(response.getHeader("access-control-allow-origin")).toBe(allowed);
  expect(response.getHeader("access-control-expose-headers")).toBe(allowed && "etag, link");
  expect(response.hasHeader("access-control-allow-credentials")).toBe(false);
});

test("a response that differs by origin has Vary, also without an Origin in the request", () => {
  expect(respond(["https://app.example"], {}).getHeader("vary")).toContain("Origin");
  expect(respond(["*"], {}).getHeader("vary")).toBeUndefined();
});

test("the preflight of an allowed origin gets the allowed methods and headers, that of another origin none", () => {
  const preflight = { "access-control-request-method": "POST" };
  const allowed = respond(["https://app.example"], { origin: "https://app.example", ...preflight });
  expect(allowed.getHeader("access-control-allow-methods")).toBe("GET, POST");
  expect(allowed.getHeader("access-control-allow-headers")).toBe("authorization");
  const other = respond(["https://app.example"], { origin: "https://other.example", ...preflight });
  expect(other.getHeaderNames().filter((name) => name.startsWith("access-control"))).toEqual([]);
  const plain = respond(["https://app.example"], { origin: "https://app.example" });
  expect(plain.hasHeader("access-control-allow-methods")).toBe(false);
});

function respond(origins: readonly string[], headers: Record<string, string>): ServerResponse {
  const request = new IncomingMessage(new Socket());
  request.method = "OPTIONS";
  Object.assign(request.headers, headers);
  const response = new ServerResponse(request);
  const cors = createCors({ origins, ...lists });
  cors.allowOrigin(request, response);
  cors.permitPreflight(request, response, "GET, POST");
  return response;
}
