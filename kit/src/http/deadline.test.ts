import { expect, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { startDeadline } from "./deadline.ts";

test("what has not begun when its time is over is refused, and may be tried again", () => {
  let nowMs = 5_000;
  const deadline = startDeadline("250", () => nowMs);
  deadline.requireTime();
  nowMs += 249;
  deadline.requireTime();
  nowMs += 1;
  const refusal = expect.objectContaining({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
  expect(() => deadline.requireTime()).toThrow(AppError);
  expect(() => deadline.requireTime()).toThrow(refusal);
  expect(() => startDeadline("0", () => nowMs).requireTime()).toThrow(refusal);
});

test("without a deadline, and with one that is none, there is all the time of the world", () => {
  let nowMs = 0;
  for (const text of [undefined, "", "soon", "-1", "1.5", "1e3", " 1"]) {
    const deadline = startDeadline(text, () => nowMs);
    nowMs += 1e9;
    deadline.requireTime();
  }
});
