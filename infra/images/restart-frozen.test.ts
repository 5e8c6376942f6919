import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pickFreePort } from "../../kit/src/free-port.ts";

const server = `
  require("node:http").createServer((_, response) => response.end("ok")).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("up"));
`;

let folder: string;
let environment: Readonly<Record<string, string | undefined>>;
let running: ChildProcess | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "health-"));
  environment = { PATH: process.env["PATH"], HEALTH_DIR: folder, PORT: String(await pickFreePort()) };
});
afterEach(() => {
  running?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

test("a process that responds stays healthy", async () => {
  await start();
  for (let count = 0; count < 7; count++) expect(await check()).toBe(0);
  expect(running?.signalCode).toBeNull();
});

test("a frozen process is ended by the check after five missed ones, and its log says why", async () => {
  const child = await start();
  child.kill("SIGSTOP");
  expect(await checkAtOnce(5)).toEqual([1, 1, 1, 1, 1]);
  expect(child.signalCode).toBeNull();
  const [[, signal]] = await Promise.all([once(child, "exit"), check()]);
  expect(signal).toBe("SIGKILL");
  expect(JSON.parse(readLog().replace("up\n", ""))).toMatchObject({ level: "warn", pid: child.pid });
}, 15_000);

test("a process that responds again after four missed checks is healthy, and not ended by the checks after them", async () => {
  const child = await start();
  child.kill("SIGSTOP");
  expect(await checkAtOnce(4)).toEqual([1, 1, 1, 1]);
  child.kill("SIGCONT");
  for (let count = 0; count < 3; count++) expect(await check()).toBe(0);
  expect(child.signalCode).toBeNull();
}, 15_000);

test("a process that does not listen yet is unhealthy and not ended", async () => {
  const child = await start("setInterval(() => {}, 1_000); console.log('up')");
  for (let count = 0; count < 7; count++) expect(await check()).toBe(1);
  expect(child.signalCode).toBeNull();
});

test("a process that is started without a folder for it writes no process id", async () => {
  environment = { ...environment, HEALTH_DIR: undefined };
  await start();
  expect(readdirSync(folder)).toEqual(["log"]);
});

/** As an image does. */
async function start(program = server) {
  const child = spawn("infra/images/start", [process.execPath, "-e", program], {
    env: environment,
    // A file: what Node makes of "pipe" is a socket, which the check could not open as it opens Docker's pipe.
    stdio: ["ignore", openSync(logFile(), "a"), "inherit"],
  });
  running = child;
  await expect.poll(readLog).toContain("up");
  return child;
}

const logFile = () => join(folder, "log");
const readLog = () => readFileSync(logFile(), "utf8");

async function check(): Promise<number | null> {
  const health = spawn("infra/images/restart-frozen", { env: environment, stdio: "ignore" });
  const [code] = (await once(health, "exit")) as [number | null];
  return code;
}

/** Each is counted as it begins, so they need not wait for one another. */
async function checkAtOnce(count: number): Promise<readonly (number | null)[]> {
  const checks: Promise<number | null>[] = [];
  for (let index = 1; index <= count; index++) {
    checks.push(check());
    const missed = () => {
      const file = join(folder, "missed-checks");
      return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
    };
    while (missed() < index) await sleep(10);
  }
  return Promise.all(checks);
}
