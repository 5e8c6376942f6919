import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { afterEach, beforeEach, expect, test } from "vitest";

/** With a backlog of one connection. */
const server = `
  const server = require("node:http").createServer((_, response) => response.end("ok"));
  server.listen({ port: Number(process.env.ADMIN_PORT ?? process.env.PORT), host: "127.0.0.1", backlog: 1 }, () => console.log("up"));
`;
const dockerfile = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");
/** The time for the response to a health check: images use more. */
const responseSecondsMax = "0.5";

let folder: string;
let environment: Readonly<Record<string, string | undefined>>;
let running: ChildProcess | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "image-"));
  environment = { PATH: process.env["PATH"], HEALTH_DIR: folder, PORT: String(await pickFreePort()) };
});
afterEach(() => {
  running?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

test("an image has the licences and notices of its packages, whatever their extension, and no other documents", () => {
  const licences = ["LICENSE", "LICENSE.md", "license.md", "licence.markdown", "NOTICE.md", "COPYING.md"];
  const unused = ["README.md", "CHANGELOG.markdown", "docs/api.md", "index.d.ts", "index.js.map"];
  for (const file of [...licences, ...unused, "index.js"]) write(`installed/node_modules/json/${file}`);
  collect('import { parse } from "json";');
  const isCopied = (file: string) => existsSync(join(folder, "app/node_modules/json", file));
  expect([...licences, "index.js"].filter((file) => !isCopied(file))).toEqual([]);
  expect(unused.filter(isCopied)).toEqual([]);
});

test("an image with collected packages has the kit, to which they contain a link", () => {
  const stages = [...dockerfile.matchAll(/^COPY --from=(\S+) \/app\/node_modules /gm)].map(([, stage = ""]) => stage);
  expect(stages).toContain("seed-files");
  for (const stage of stages) expect(dockerfile).toContain(`COPY --from=${stage} /app/kit kit`);
});

test("an image runs Node without root and without a shell, has a compile cache, and only a job has no health check", () => {
  const stages = dockerfile.split(/^(?=FROM )/m);
  const base = stages.find((stage) => / AS process$/m.test(stage)) ?? "";
  expect(base).toMatch(/^ENV .*\bNODE_COMPILE_CACHE=/m);
  expect(base).toMatch(/^ENTRYPOINT \["\/app\/infra\/images\/start"\]$/m);
  expect(base).toMatch(/^HEALTHCHECK .*CMD \["\/app\/infra\/images\/healthy"\]$/m);
  const images = new Map(stages.map((stage) => [/^FROM process AS (\S+)$/m.exec(stage)?.[1], stage]));
  images.delete(undefined);
  expect([...images.keys()]).toEqual(expect.arrayContaining(["service", "gateway", "rest-proxy", "seed"]));
  for (const [name, stage] of images) {
    const isJob = name === "seed";
    expect(stage.match(/^USER .*$/gm), name).toEqual(["USER node"]);
    expect(stage.match(/^CMD .*$/gm), name).toEqual([expect.stringMatching(/^CMD \["node", /)]);
    expect(/^RUN node .*\bcompile\.ts /m.test(stage), name).toBe(!isJob);
    expect(stage.match(/^(?:ENTRYPOINT|HEALTHCHECK) .*$/gm), name).toEqual(isJob ? ["HEALTHCHECK NONE"] : null);
  }
});

test("a worker's file that does not exist fails the build, like an import", () => {
  expect(() => collect('new Worker(new URL("./worker.ts", import.meta.url));')).toThrow("worker.ts");
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
  for (let times = 0; times < 2; times++) {
    child.kill("SIGSTOP");
    expect(await check()).toBe(1);
    child.kill("SIGCONT");
    expect(await check()).toBe(0);
  }
});

test("a process that reports a blocked event loop is killed after the maximum of consecutive missed checks", async () => {
  const child = await start(server.replace("response.end", "response.writeHead(503).end"));
  expect(await check()).toBe(1);
  expect(child.signalCode).toBeNull();
  const [[, signal]] = await Promise.all([once(child, "exit"), check()]);
  expect(signal).toBe("SIGKILL");
});

test("a process that is live and not ready is unhealthy and not killed", async () => {
  const notReady = "(response.statusCode = _.url === '/health/live' ? 200 : 503, response).end";
  const child = await start(server.replace("response.end", notReady));
  for (let count = 0; count < 4; count++) expect(await check()).toBe(2);
  expect(child.signalCode).toBeNull();
});

test("the check uses the admin listener if the process has one", async () => {
  environment = { ...environment, ADMIN_PORT: environment["PORT"], PORT: "1" };
  await start();
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

/** Collects the packages of a process in `app`, as an image build does. */
function collect(source: string): void {
  write("installed/node_modules/json/package.json", "{}");
  write("app/main.ts", source);
  const program = join(import.meta.dirname, "collect.ts");
  execFileSync(process.execPath, [program, "main.ts", join(folder, "installed")], {
    cwd: join(folder, "app"),
    stdio: "pipe",
  });
}

function write(path: string, text = ""): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Starts the process like an image. */
async function start(program = server) {
  const child = spawn(join(import.meta.dirname, "start"), [process.execPath, "-e", program], {
    env: environment,
    // A file, because Node's "pipe" is a socket, which the check cannot open like Docker's pipe.
    stdio: ["ignore", openSync(join(folder, "log"), "a"), "inherit"],
  });
  running = child;
  await expect.poll(readLog).toContain("up");
  return child;
}

function readLog(): string {
  return readFileSync(join(folder, "log"), "utf8");
}

/** Ends the process at the second missed check. */
async function check(): Promise<number | null> {
  const health = spawn(join(import.meta.dirname, "restart-frozen"), ["2", responseSecondsMax], {
    env: environment,
    stdio: "ignore",
  });
  const [code] = (await once(health, "exit")) as [number | null];
  return code;
}
