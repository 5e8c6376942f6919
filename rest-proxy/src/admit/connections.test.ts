import { expect, test } from "vitest";
import { codeOfParserError, rawProblem } from "./connections.ts";

test("errors of Node's HTTP parser have error codes", () => {
  expect(codeOfParserError("HPE_HEADER_OVERFLOW")).toBe("HEADERS_TOO_LARGE");
  expect(codeOfParserError("ERR_HTTP_REQUEST_TIMEOUT")).toBe("REQUEST_TIMEOUT");
  expect(codeOfParserError("HPE_INVALID_METHOD")).toBe("MALFORMED_REQUEST");
  expect(codeOfParserError(undefined)).toBe("MALFORMED_REQUEST");
});

test("a raw problem is a complete HTTP response", () => {
  const [head = "", body = ""] = rawProblem("REQUEST_TIMEOUT", "r-1").split("\r\n\r\n");
  expect(head.split("\r\n")).toEqual([
    "HTTP/1.1 408 Request Timeout",
    "Content-Type: application/problem+json",
    "Cache-Control: no-store",
    "X-Request-Id: r-1",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ]);
  expect(JSON.parse(body)).toMatchObject({ status: 408, requestId: "r-1" });
});
