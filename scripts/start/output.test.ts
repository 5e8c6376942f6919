import { PassThrough } from "node:stream";
import { createLog } from "@tributary/kit/process/log";
import { expect, test } from "vitest";
import { createOutput } from "./output.ts";

test("a log record is printed as its message and fields", () => {
  const { line, text } = setUp();
  const time = new Date(2026, 0, 2, 3, 4, 5).toISOString();
  line(
    "users",
    JSON.stringify({ level: "info", time, pid: 1, name: "users", port: 4001, path: "/a b", msg: "listening" }),
  );
  expect(text()).toBe(`users      | 03:04:05 info  listening port=4001 path="/a b"\n`);
});

test("the log lines of a process that ends are omitted", () => {
  const { line, text } = setUp();
  for (const msg of ["stopping", "draining", "stopped"]) line("users", JSON.stringify({ level: "info", msg }));
  expect(text()).toBe("");
});

test("an error's type, message, stack frames and causes follow its log line", () => {
  const { line, text } = setUp();
  const cause = Object.assign(new Error("connect refused"), { code: "ECONNREFUSED" });
  const error = new AggregateError([new RangeError("one of many")], "boom", { cause });
  const [, position = ""] =
    /^ +at .*(file:.*output\.test\.ts:\d+:\d+|\/.*output\.test\.ts:\d+:\d+)/m.exec(error.stack!) ?? [];
  line("users", logLineOf(error, "a field failed"));
  const [headline, first, frame, ...more] = text().split("\n");
  expect(headline).toMatch(/^users {6}\| \d\d:\d\d:\d\d error a field failed requestId=7$/);
  expect(first).toBe("users      |   AggregateError: boom");
  expect(frame).toMatch(/^users {6}\| {7}at /);
  expect(frame).toContain(position);
  expect(more).toContain("users      |   cause: Error: connect refused code=ECONNREFUSED");
  expect(more).toContain("users      |   one of its errors: RangeError: one of many");
});

test("different errors with the same log message are each shown", () => {
  const { line, text } = setUp();
  for (let i = 0; i < 5; i++) line("users", logLineOf(new TypeError("first"), "a field failed"));
  line("users", logLineOf(new RangeError("second"), "a field failed"));
  expect(text()).toContain("RangeError: second");
});

test("repeated warnings and errors are limited, other lines are all shown", () => {
  const { line, text } = setUp();
  const log = (level: string, msg: string, times: number) => {
    for (let i = 0; i < times; i++) line("users", JSON.stringify({ level, msg, requestId: String(i) }));
  };
  log("warn", "a fetch failed", 50);
  log("info", "request completed", 50);
  log("warn", "another problem", 1);
  expect(text().match(/warn {2}a fetch failed/g)).toHaveLength(3);
  expect(text().match(/more lines "a fetch failed": at most 3 a second are shown/g)).toHaveLength(1);
  expect(text().match(/request completed/g)).toHaveLength(50);
  expect(text()).toContain("another problem");
});

test("a warning whose lines were all shown has no note on omitted lines", () => {
  const { line, text } = setUp();
  for (let i = 0; i < 3; i++) line("users", JSON.stringify({ level: "warn", msg: "a fetch failed" }));
  expect(text()).not.toContain("are shown");
});

test("a line that is no log record is printed unchanged, with its part's colour on a terminal", () => {
  const { line, text } = setUp(true);
  for (const original of ["{broken", `{"no":"log record"}`, "[1]", "", "null"]) line("rest-proxy", original);
  const column = "\u001b[32mrest-proxy |\u001b[39m ";
  expect(text().split("\n").slice(0, 2)).toEqual([`${column}{broken`, `${column}{"no":"log record"}`]);
});

/** The line that a service writes for this error. */
function logLineOf(err: unknown, message: string): string {
  const destination = new PassThrough();
  createLog({ name: "users", level: "info", destination }).error({ err, requestId: "7" }, message);
  return String(destination.read()).trimEnd();
}

function setUp(isColoured = false) {
  let text = "";
  const output = createOutput({ write: (more) => (text += more), isColoured, names: ["users", "rest-proxy"] });
  return { line: output.line, text: () => text };
}
