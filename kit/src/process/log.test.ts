import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLog, type LogOptions } from "./log.ts";

function setUp(o: Partial<LogOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write: (chunk, _, done) => (lines.push(JSON.parse(String(chunk)) as Record<string, unknown>), done()),
  });
  return { lines, log: createLog({ name: "things", level: "info", destination, ...o }) };
}

test("each line has the version and the fields of its request", () => {
  const { lines, log } = setUp({ version: "1.2.3", context: () => ({ requestId: "r-1", trace_id: "t-1" }) });
  log.info("one");
  log.warn({ requestId: "r-2" }, "two");
  expect(lines).toMatchObject([
    { name: "things", version: "1.2.3", requestId: "r-1", trace_id: "t-1", msg: "one" },
    { requestId: "r-2", trace_id: "t-1", msg: "two" },
  ]);
});

test("an error is logged without its unknown properties", () => {
  const { lines, log } = setUp();
  log.error({ err: Object.assign(new Error("no"), { body: "plum-secret" }), about: "ada@example.com" }, "failed");
  expect(lines).toMatchObject([{ err: { type: "Error", message: "no" }, about: "<email>" }]);
  expect(JSON.stringify(lines)).not.toContain("plum-secret");
});

test("onTrouble is called for lines of level warn and above", () => {
  const levels: string[] = [];
  const { log } = setUp({ onTrouble: (level) => levels.push(level) });
  log.info("calm");
  log.warn("less calm");
  log.error("not calm");
  expect(levels).toEqual(["warn", "error"]);
});

test("a log line is JSON with its time, level and name, and without secrets", () => {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) });
  createLog({ name: "users", level: "info", destination }).info(
    { token: "sesame", headers: { authorization: "Bearer x" } },
    "hello",
  );
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    name: "users",
    level: "info",
    msg: "hello",
    time: expect.stringMatching(/Z$/),
  });
  expect(lines[0]).not.toMatch(/sesame|Bearer/);
});
