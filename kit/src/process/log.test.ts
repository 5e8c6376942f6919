import { closeSync, openSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createLog, type LogOptions } from "./log.ts";

test("a log line is JSON with its time, level, name, version and the fields of its request", () => {
  const { lines, log } = setUp({ version: "1.2.3", context: () => ({ requestId: "r-1", trace_id: "t-1" }) });
  log.info("one");
  log.warn({ requestId: "r-2" }, "two");
  const time = expect.stringMatching(/Z$/);
  expect(lines).toMatchObject([
    { name: "things", version: "1.2.3", level: "info", time, requestId: "r-1", trace_id: "t-1", msg: "one" },
    { level: "warn", requestId: "r-2", trace_id: "t-1", msg: "two" },
  ]);
});

test("secrets, email addresses and unknown properties of errors are not logged", () => {
  const { lines, log } = setUp();
  const err = Object.assign(new Error("no"), { body: "plum-secret" });
  const headers = { authorization: "Bearer plum-secret" };
  log.error({ err, token: "plum-secret", headers, about: "ada@example.com" }, "failed");
  expect(lines).toMatchObject([{ err: { type: "Error", message: "no" }, about: "<email>" }]);
  expect(JSON.stringify(lines)).not.toMatch(/plum-secret|Bearer/);
});

test("onTrouble is called for lines of level warn and above", () => {
  const levels: string[] = [];
  const { log } = setUp({ onTrouble: (level) => levels.push(level) });
  log.info("calm");
  log.warn("less calm");
  log.error("not calm");
  expect(levels).toEqual(["warn", "error"]);
});

test("lines are written within a second without a further line, several in one write", async () => {
  const { logged, child } = run(`for (let at = 0; at < 10; at++) log.info(String(at)); setInterval(() => {}, 1_000);`);
  let chunks = 0;
  child.stdout?.on("data", () => chunks++);
  await expect.poll(() => logged().length).toBe(10);
  await sleep(50);
  expect(chunks).toBe(1);
});

test("a line of level warn is written at once, with all earlier lines", async () => {
  const { logged, ended } = run(
    `log.info("one"); log.info("two"); log.warn("three"); process.kill(process.pid, "SIGKILL");`,
  );
  await ended;
  expect(logged()).toEqual(["one", "two", "three"]);
});

test.each([
  ["by itself", ""],
  ["with process.exit", "process.exit(1);"],
  ["with an uncaught error", 'throw new Error("planned");'],
])("a process that ends %s has written every line", async (_name, last) => {
  const { logged, ended } = run(`for (let at = 0; at < 100; at++) log.info(String(at)); ${last}`);
  await ended;
  expect(logged()).toEqual(Array.from({ length: 100 }, (_, at) => String(at)));
});

test("a process whose output has no reader any more continues", async () => {
  const { child, logged, ended } = run(
    `setInterval(() => log.warn("still serving"), 10); setTimeout(() => process.exit(7), 500);`,
  );
  await expect.poll(() => logged().length).toBeGreaterThan(0);
  child.stdout?.destroy();
  expect(await ended).toEqual([7, null]);
});

test.skipIf(process.platform !== "linux")("a process whose log is on a full disk continues", async () => {
  const output = openSync("/dev/full", "w");
  const { ended } = run(
    `setInterval(() => log.warn("still serving"), 10); setTimeout(() => process.exit(7), 500);`,
    output,
  );
  closeSync(output);
  expect(await ended).toEqual([7, null]);
});

function setUp(o: Partial<LogOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write: (chunk, _, done) => (lines.push(JSON.parse(String(chunk)) as Record<string, unknown>), done()),
  });
  return { lines, log: createLog({ name: "things", level: "info", destination, ...o }) };
}

/** Runs a few lines of code with `log` in another process; `logged` returns the messages that it has written so far. */
function run(source: string, output: "pipe" | number = "pipe") {
  const program = `import { createLog } from ${JSON.stringify(import.meta.resolve("./log.ts"))};
    const log = createLog({ name: "things", level: "info" });
    ${source}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", output, "inherit"],
  });
  let written = "";
  child.stdout?.on("data", (chunk: Buffer) => (written += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const logged = () =>
    written.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { msg: string }).msg]));
  return { child, logged, ended: once(child, "close") };
}
