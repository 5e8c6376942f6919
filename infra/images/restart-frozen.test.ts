import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";

/** With a backlog of one connection. */
const server = `
  const server = require("node:http").createServer((_, response) => response.end("ok"));
  server.listen({ port: Number(process.env.PORT), host: "127.0.0.1", backlog: 1 }, () => console.log("up"));
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
  const child = await start();
  for (let count = 0; count < 4; count++) expect(await check()).toBe(0);
  expect(child.signalCode).toBeNull();
});

test("a frozen process is killed after the maximum of consecutive missed checks, and its log has the reason", async () => {
  const child = await start();
  child.kill("SIGSTOP");
  expect(await check()).toBe(1);
  expect(child.signalCode).toBeNull();
  const [[, signal]] = await Promise.all([once(child, "exit"), check()]);
  expect(signal).toBe("SIGKILL");
  expect(JSON.parse(readLog().replace("up\n", ""))).toMatchObject({ level: "warn", pid: child.pid });
});

test("a frozen process with a full connection backlog is killed too", async () => {
  const child = await start();
  child.kill("SIGSTOP");
  const waiting = Array.from({ length: 4 }, () =>
    connect(Number(environment["PORT"]), "127.0.0.1").on("error", () => {}),
  );
  await expect.poll(() => waiting.filter(({ connecting }) => !connecting).length).toBe(2);
  const [[, signal]] = await Promise.all([once(child, "exit"), check().then(check)]);
  expect(signal).toBe("SIGKILL");
  for (const socket of waiting) socket.destroy();
});

test("a process that responds again is healthy, and its count of missed checks starts again", async () => {
  const child = await start();
  child.kill("SIGSTOP");
  expect(await check()).toBe(1);
  for (let times = 0; times < 2; times++) {
    child.kill("SIGCONT");
    expect(await check()).toBe(0);
    child.kill("SIGSTOP");
    expect(await check()).toBe(1);
  }
  child.kill("SIGCONT");
  expect(await check()).toBe(0);
});

test("a missed check of more than a minute ago does not count as consecutive", async () => {
  const child = await start();
  child.kill("SIGSTOP");
  expect(await check()).toBe(1);
  const twoMinutesAgo = Date.now() / 1_000 - 120;
  utimesSync(join(folder, "missed-checks"), twoMinutesAgo, twoMinutesAgo);
  expect(await check()).toBe(1);
  child.kill("SIGCONT");
  expect(await check()).toBe(0);
});

test("a process that does not listen yet is unhealthy and not killed", async () => {
  const child = await start("setInterval(() => {}, 1_000); console.log('up')");
  for (let count = 0; count < 4; count++) expect(await check()).toBe(1);
  expect(child.signalCode).toBeNull();
});

test("without HEALTH_DIR the process writes no process id", async () => {
  environment = { ...environment, HEALTH_DIR: undefined };
  await start();
  expect(readdirSync(folder)).toEqual(["log"]);
});

/** Starts the process like an image. */
async function start(program = server) {
  const child = spawn(join(import.meta.dirname, "start"), [process.execPath, "-e", program], {
    env: environment,
    // A file, because Node's "pipe" is a socket, which the check cannot open like Docker's pipe.
    stdio: ["ignore", openSync(logFile(), "a"), "inherit"],
  });
  running = child;
  await expect.poll(readLog).toContain("up");
  return child;
}

const logFile = () => join(folder, "log");
const readLog = () => readFileSync(logFile(), "utf8");

/** Ends the process at the second missed check; a response may take a second. */
async function check(): Promise<number | null> {
  const health = spawn(join(import.meta.dirname, "restart-frozen"), ["2", "1"], { env: environment, stdio: "ignore" });
  const [code] = (await once(health, "exit")) as [number | null];
  return code;
}
