import { expect, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { startDeadline } from "./deadline.ts";

test("work that has not started by the deadline is rejected, and may be retried", () => {
  let nowMs = 5_000;
  const deadline = startDeadline("250", () => nowMs);
  deadline.requireTime();
  nowMs += 249;
  deadline.requireTime();
  nowMs += 1;
  const rejection = expect.objectContaining({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
  expect(() => deadline.requireTime()).toThrow(AppError);
  expect(() => deadline.requireTime()).toThrow(rejection);
  expect(() => startDeadline("0", () => nowMs).requireTime()).toThrow(rejection);
});

test("a request without a deadline, or with an invalid one, has no time limit", () => {
  let nowMs = 0;
  for (const text of [undefined, "", "soon", "-1", "1.5", "1e3", " 1"]) {
    const deadline = startDeadline(text, () => nowMs);
    nowMs += 1e9;
    deadline.requireTime();
  }
});
