import { expect, test } from "vitest";
import { createRepeatedLineFilter, createRetryOutputs } from "./repeated-line-filter.ts";

test("at most `perSecondMax` lines of one kind are shown in a second, and the first omitted line is marked", () => {
  let nowMs = 0;
  const decide = createRepeatedLineFilter({ now: () => nowMs, perSecondMax: 3 });
  expect(Array.from({ length: 5 }, () => decide("down"))).toEqual(["show", "show", "show", "omit-first", "omit"]);
  expect(decide("another kind")).toBe("show");
  nowMs = 999;
  expect(decide("down")).toBe("omit");
  nowMs = 1_000;
  expect(decide("down")).toBe("show");
});

test("the number of counted kinds is bounded", () => {
  const decide = createRepeatedLineFilter({ now: () => 0, perSecondMax: 1 });
  for (let kind = 0; kind < 1_001; kind++) expect(decide(String(kind))).toBe("show");
  expect(decide("0")).toBe("show");
});

test("the output of an attempt that equals the previous output is not printed again, other output is printed whole", () => {
  const printed: string[] = [];
  const outputs = createRetryOutputs((line) => printed.push(line));
  const attempt = (...lines: readonly string[]) => {
    const output = outputs.startAttempt();
    for (const line of lines) output.line(line);
    return output.endAttempt();
  };
  const logLine = (time: string) => `{"level":"info","time":"${time}","pid":${time.length},"msg":"starting"}`;
  expect(attempt(logLine("1"), "no handler")).toBe(false);
  expect(attempt(logLine("20"), "no handler")).toBe(true);
  expect(printed).toEqual([logLine("1"), "no handler"]);
  expect(attempt(logLine("3"), "no database")).toBe(false);
  expect(printed.slice(2)).toEqual([logLine("3"), "no database"]);
  expect(attempt(logLine("3"))).toBe(false);
  outputs.reset();
  expect(attempt(logLine("3"))).toBe(false);
  expect(printed.slice(4)).toEqual([logLine("3"), logLine("3")]);
});
