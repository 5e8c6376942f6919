import { AppError } from "@tributary/kit/errors/app-error";
import { expect, test } from "vitest";
import { toServiceError } from "./service-failure.ts";

test.each([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "EPIPE",
  "HPE_INVALID_CONSTANT",
])("%s means that the service is unreachable", (code) => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:4001"), { code });
  const error = toServiceError(cause);
  expect(error).toMatchObject({ code: "BAD_GATEWAY", retryAfterSeconds: 5, cause });
  expect(error.message).not.toContain("10.0.0.7");
});

test.each([
  new TypeError("x is not a function"),
  Object.assign(new Error("bad header"), { code: "ERR_INVALID_CHAR" }),
  "text",
  undefined,
])("%s is a bug of the proxy", (error) => {
  expect(toServiceError(error)).toMatchObject({
    code: "INTERNAL_SERVER_ERROR",
    message: "Internal error. Retry later.",
  });
});

test("an AppError is unchanged", () => {
  const error = new AppError("GATEWAY_TIMEOUT", "Late.");
  expect(toServiceError(error)).toBe(error);
});
