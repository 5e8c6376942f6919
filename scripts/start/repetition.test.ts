import { expect, test } from "vitest";
import { createRepetition, createRetryOutputs } from "./repetition.ts";

test("at most so many lines of one kind are shown in a second, and the first that is omitted is marked", () => {
  let nowMs = 0;
  const showing = createRepetition({ now: () => nowMs, perSecondMax: 3 });
  expect(Array.from({ length: 5 }, () => showing("down"))).toEqual(["show", "show", "show", "omit-first", "omit"]);
  expect(showing("another kind")).toBe("show");
  nowMs = 999;
  expect(showing("down")).toBe("omit");
  nowMs = 1_000;
  expect(showing("down")).toBe("show");
});

test("the number of remembered kinds is bounded", () => {
  const showing = createRepetition({ now: () => 0, perSecondMax: 1 });
  for (let kind = 0; kind < 1_001; kind++) expect(showing(String(kind))).toBe("show");
  expect(showing("0")).toBe("show");
});

test("an attempt that fails with the output of the one before is not printed again, another one is printed whole", () => {
  const printed: string[] = [];
  const outputs = createRetryOutputs((line) => printed.push(line));
  const attempt = (...lines: readonly string[]) => {
    const output = outputs.begin();
    for (const line of lines) output.line(line);
    return output.fail();
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
