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

test("each line says what runs, and whose request it is about", () => {
  const { lines, log } = setUp({ version: "1.2.3", context: () => ({ requestId: "r-1", trace_id: "t-1" }) });
  log.info("one");
  log.warn({ requestId: "r-2" }, "two");
  expect(lines).toMatchObject([
    { name: "things", version: "1.2.3", requestId: "r-1", trace_id: "t-1", msg: "one" },
    { requestId: "r-2", trace_id: "t-1", msg: "two" },
  ]);
});

test("an error is told without what it carries along", () => {
  const { lines, log } = setUp();
  log.error({ err: Object.assign(new Error("no"), { body: "plum-secret" }), about: "ada@example.com" }, "failed");
  expect(lines).toMatchObject([{ err: { type: "Error", message: "no" }, about: "<email>" }]);
  expect(JSON.stringify(lines)).not.toContain("plum-secret");
});

test("lines that ask for somebody are told of, others not", () => {
  const told: string[] = [];
  const { log } = setUp({ onTrouble: (level) => told.push(level) });
  log.info("calm");
  log.warn("less calm");
  log.error("not calm");
  expect(told).toEqual(["warn", "error"]);
});
