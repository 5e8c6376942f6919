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
  [["*"], "https://anybody.example", "*"],
  [[], "https://app.example", undefined],
])("of %j the origin %s gets %s", (origins, origin, allowed) => {
  const response = answer(origins, { origin });
  expect(response.getHeader("access-control-allow-origin")).toBe(allowed);
  expect(response.getHeader("access-control-expose-headers")).toBe(allowed && "etag, link");
  expect(response.hasHeader("access-control-allow-credentials")).toBe(false);
});

test("an answer that differs by origin says so, also to those without one", () => {
  expect(answer(["https://app.example"], {}).getHeader("vary")).toContain("Origin");
  expect(answer(["*"], {}).getHeader("vary")).toBeUndefined();
});

test("a preflight of an allowed page learns what it may send, a foreign one nothing", () => {
  const preflight = { "access-control-request-method": "POST" };
  const allowed = answer(["https://app.example"], { origin: "https://app.example", ...preflight });
  expect(allowed.getHeader("access-control-allow-methods")).toBe("GET, POST");
  expect(allowed.getHeader("access-control-allow-headers")).toBe("authorization");
  const foreign = answer(["https://app.example"], { origin: "https://evil.example", ...preflight });
  expect(foreign.getHeaderNames().filter((name) => name.startsWith("access-control"))).toEqual([]);
  const plain = answer(["https://app.example"], { origin: "https://app.example" });
  expect(plain.hasHeader("access-control-allow-methods")).toBe(false);
});

function answer(origins: readonly string[], headers: Record<string, string>): ServerResponse {
  const request = new IncomingMessage(new Socket());
  request.method = "OPTIONS";
  Object.assign(request.headers, headers);
  const response = new ServerResponse(request);
  const cors = createCors({ origins, ...lists });
  cors.allowOrigin(request, response);
  cors.permitPreflight(request, response, "GET, POST");
  return response;
}
