import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

/** Runs a few lines in a process of their own, with `log` at hand; its standard output so far, line by line. */
function run(source: string) {
  const program = `import { createLog } from ${JSON.stringify(import.meta.resolve("./log.ts"))};
    const log = createLog({ name: "things", level: "info" });
    ${source}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let written = "";
  child.stdout.on("data", (chunk: Buffer) => (written += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const logged = () =>
    written.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { msg: string }).msg]));
  return { child, logged, ended: once(child, "close") };
}

const stayAlive = "setInterval(() => {}, 1_000);";

test("a line is written within a second without a further line", async () => {
  const { logged } = run(`log.info("listening"); ${stayAlive}`);
  await expect.poll(logged, { timeout: 5_000 }).toEqual(["listening"]);
});

test("a line of level warn is written at once, with all earlier lines", async () => {
  const { logged, ended } = run(
    `log.info("one"); log.info("two"); log.warn("three"); process.kill(process.pid, "SIGKILL");`,
  );
  await ended;
  expect(logged()).toEqual(["one", "two", "three"]);
});

test.each([
  ["as it should", ""],
  ["by its own word", "process.exit(1);"],
  ["of an uncaught error", 'throw new Error("planned");'],
])("a process that ends %s has written every line", async (_name, last) => {
  const { logged, ended } = run(`for (let at = 0; at < 100; at++) log.info(String(at)); ${last}`);
  await ended;
  expect(logged()).toEqual(Array.from({ length: 100 }, (_, at) => String(at)));
});

test("a process whose output has no reader any more continues", async () => {
  const { child, logged, ended } = run(
    `setInterval(() => log.warn("still serving"), 10); setTimeout(() => process.exit(7), 1_000);`,
  );
  await expect.poll(() => logged().length, { timeout: 5_000 }).toBeGreaterThan(0);
  child.stdout.destroy();
  expect(await ended).toEqual([7, null]);
});

test("several lines share one write", async () => {
  const { logged, child } = run(`for (let at = 0; at < 10; at++) log.info(String(at)); ${stayAlive}`);
  let chunks = 0;
  child.stdout.on("data", () => chunks++);
  await expect.poll(() => logged().length, { timeout: 5_000 }).toBe(10);
  await sleep(50);
  expect(chunks).toBe(1);
});
