import { AppError } from "@tributary/kit/errors/app-error";
import { expect, test } from "vitest";
import { codeOfParserError, rawProblem, toServiceError } from "./problems.ts";

test.each([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "EPIPE",
  "HPE_INVALID_CONSTANT",
])("%s means that the service is not there", (code) => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:4001"), { code });
  const told = toServiceError(cause);
  expect(told).toMatchObject({ code: "BAD_GATEWAY", retryAfterSeconds: 5, cause });
  expect(told.message).not.toContain("10.0.0.7");
});

test.each([
  new TypeError("x is not a function"),
  Object.assign(new Error("bad header"), { code: "ERR_INVALID_CHAR" }),
  "text",
  undefined,
])("%s is a fault of our own", (error) => {
  expect(toServiceError(error)).toMatchObject({
    code: "INTERNAL_SERVER_ERROR",
    message: "Something went wrong on our side.",
  });
});

test("what we refuse ourselves stays as it is", () => {
  const error = new AppError("GATEWAY_TIMEOUT", "Late.");
  expect(toServiceError(error)).toBe(error);
});

test("what Node's parser refuses has a code of ours", () => {
  expect(codeOfParserError("HPE_HEADER_OVERFLOW")).toBe("HEADERS_TOO_LARGE");
  expect(codeOfParserError("ERR_HTTP_REQUEST_TIMEOUT")).toBe("REQUEST_TIMEOUT");
  expect(codeOfParserError("HPE_INVALID_METHOD")).toBe("MALFORMED_REQUEST");
  expect(codeOfParserError(undefined)).toBe("MALFORMED_REQUEST");
});

test("a raw problem is a whole HTTP answer", () => {
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
