import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { identifyProcess, isRunning } from "@tributary/kit/process/process-identity";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

test("a fresh clone is installed once with its development dependencies, and the script runs under Node 24", async () => {
  const clone = newClone();
  const { code, stdout, stderr } = await bootstrap(clone, ["script.ts", "--x", "a b"], { NODE_ENV: "production" });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: "Installing with npm ci, because node_modules is missing or incomplete.\n",
  });
  expect(stdout).toContain(`["v24","--x","a b"]`);
  expect((await bootstrap(clone, ["script.ts"])).stderr).toBe("");
  expect(installsOf(clone)).toEqual(["npm ci --include=dev --loglevel=error"]);
});

test("a package with another version than in the lock file, and a missing Node 24, cause an install", async () => {
  const clone = installedClone();
  writeLock(join(clone, "package-lock.json"), "2.0.0");
  const changed = await bootstrap(clone, ["script.ts"]);
  expect(changed.stderr).toContain("differs from package-lock.json (node_modules/thing)");
  rmSync(join(clone, "node_modules/.bin/node"));
  const withoutNode = await bootstrap(clone, ["script.ts"]);
  expect(withoutNode.stderr).toContain("Node 24 is missing from node_modules");
  expect(installsOf(clone)).toHaveLength(2);
});

test("what is missing is added to the installed packages; only if that does not suffice, all are installed again", async () => {
  const clone = installedClone();
  rmSync(join(clone, "node_modules/thing"), { recursive: true });
  const missing = await bootstrap(clone, ["script.ts"]);
  expect(missing.stderr).toBe("Installing with npm install, because node_modules/thing is missing.\n");
  writeLock(join(clone, "package-lock.json"), "2.0.0");
  const { code, stderr } = await bootstrap(clone, ["script.ts"], { INCOMPLETE_INSTALL: "1" });
  expect([code, stderr.split("\n")]).toEqual([
    0,
    [
      "Installing with npm install, because node_modules differs from package-lock.json (node_modules/thing).",
      "Installing with npm ci, because node_modules differs from package-lock.json (node_modules/thing).",
      "",
    ],
  ]);
  const added = "npm install --no-save --include=dev --loglevel=error";
  expect(installsOf(clone)).toEqual([added, added, "npm ci --include=dev --loglevel=error"]);
});

test("two concurrent processes install once", async () => {
  const clone = newClone();
  const start = () => bootstrap(clone, ["script.ts"], { INSTALL_SECONDS: "0.3" });
  const both = await Promise.all([start(), start()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(installsOf(clone)).toHaveLength(1);
});

test("the lock of a process that has ended is removed", async () => {
  const clone = newClone();
  mkdirSync(join(clone, ".data"));
  writeFileSync(join(clone, ".data/install.lock"), `${2 ** 22 + 1}\n`);
  expect((await bootstrap(clone, ["script.ts"])).code).toBe(0);
  expect(existsSync(join(clone, ".data/install.lock"))).toBe(false);
});

test("a failed install ends with npm's exit code, and the next start installs again", async () => {
  const clone = newClone();
  expect((await bootstrap(clone, ["script.ts"], { FAIL_INSTALL: "7" })).code).toBe(7);
  expect((await bootstrap(clone, ["script.ts"])).code).toBe(0);
});

test("a program of node_modules/.bin is run by its name, an unknown name is an error", async () => {
  const clone = installedClone();
  expect((await bootstrap(clone, ["greet", "ada"])).stdout).toContain("hello ada");
  const unknown = await bootstrap(clone, ["nothing"]);
  expect({ code: unknown.code, stderr: unknown.stderr }).toEqual({
    code: 1,
    stderr: "node_modules/.bin has no program nothing.\n",
  });
  expect((await bootstrap(clone, [])).stderr).toContain("Usage: node scripts/bootstrap.mjs");
});

test("the exit code is the program's, or 128 plus the signal's number, as in a shell", async () => {
  const clone = installedClone();
  writeFileSync(join(clone, "five.ts"), "process.exit(5);");
  writeFileSync(join(clone, "killed.ts"), "process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1e6);");
  expect((await bootstrap(clone, ["five.ts"])).code).toBe(5);
  expect((await bootstrap(clone, ["killed.ts"])).code).toBe(137);
});

test("SIGINT, SIGTERM and SIGHUP are forwarded to the program, and the bootstrap waits for its end", async () => {
  const clone = installedClone();
  writeFileSync(
    join(clone, "wait.ts"),
    `for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
       process.on(signal, () => { console.log("got " + signal); if (signal === "SIGHUP") process.exit(3); });
     setInterval(() => {}, 1e6); console.log("up");`,
  );
  const child = launch(clone, ["wait.ts"]);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  await lines.next();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    child.kill(signal);
    expect((await lines.next()).value).toBe(`got ${signal}`);
  }
  expect(await once(child, "exit")).toEqual([3, null]);
});

test("when npm is killed, the program receives SIGTERM", async () => {
  const clone = installedClone();
  writeFileSync(join(clone, "wait.ts"), `setInterval(() => {}, 1e6); console.log(process.pid);`);
  const asNpm = `import { spawn } from "node:child_process";
    spawn("sh", ["-c", "${process.execPath} scripts/bootstrap.mjs wait.ts; true"], { stdio: "inherit" });`;
  const env = { ...process.env, npm_lifecycle_event: "start" };
  const npm = spawn(process.execPath, ["--input-type=module", "-e", asNpm], {
    cwd: clone,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: npm.stdout });
  const [pid] = await once(lines, "line");
  const program = identifyProcess(Number(pid));
  npm.kill("SIGKILL");
  await once(lines, "close"); // The last process with the pipe has ended.
  expect(program && isRunning(program)).toBe(false);
});

function newClone(): string {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), "tributary-bootstrap-")));
  cleanups.push(() => rmSync(clone, { recursive: true }));
  mkdirSync(join(clone, "scripts"));
  copyFileSync(new URL("bootstrap.mjs", import.meta.url), join(clone, "scripts/bootstrap.mjs"));
  writeLock(join(clone, "package-lock.json"), "1.0.0");
  writeFileSync(
    join(clone, "script.ts"),
    `const major: string = process.version.split(".")[0]!; console.log(JSON.stringify([major, ...process.argv.slice(2)]));`,
  );
  writeFakeNpm(clone);
  return clone;
}

/** A clone that the fake npm has installed. */
function installedClone(): string {
  const clone = newClone();
  execFileSync(join(clone, "fake-npm/npm"), ["ci"], { cwd: clone });
  writeFileSync(join(clone, "installs.log"), "");
  return clone;
}

// Does what the tests need of npm: takes some time, and creates node_modules with a Node, a program, a package and the lock file.
function writeFakeNpm(clone: string): void {
  const folder = join(clone, "fake-npm");
  mkdirSync(folder);
  const script = `#!/bin/sh
echo "npm $*" >> "${clone}/installs.log"
[ -n "$FAIL_INSTALL" ] && exit "$FAIL_INSTALL"
[ -n "$INCOMPLETE_INSTALL" ] && [ "$1" = install ] && exit 0
sleep "\${INSTALL_SECONDS:-0}"
mkdir -p node_modules/.bin node_modules/thing
ln -sf "${process.execPath}" node_modules/.bin/node
printf '#!/bin/sh\\necho "hello $1"\\n' > node_modules/.bin/greet
chmod +x node_modules/.bin/greet
cp package-lock.json node_modules/.package-lock.json
`;
  writeFileSync(join(folder, "npm"), script);
  chmodSync(join(folder, "npm"), 0o755);
  symlinkSync(process.execPath, join(folder, "node"));
}

function writeLock(path: string, version: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ packages: { "node_modules/thing": { version } } }));
}

function installsOf(clone: string): string[] {
  return readFileSync(join(clone, "installs.log"), "utf8").trim().split("\n");
}

function launch(clone: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const { npm_lifecycle_event: _, ...inherited } = process.env;
  const PATH = `${join(clone, "fake-npm")}:${process.env["PATH"]}`;
  const options = { cwd: clone, env: { ...inherited, PATH, ...env } };
  return spawn(process.execPath, ["scripts/bootstrap.mjs", ...args], options);
}

async function bootstrap(clone: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = launch(clone, args, env);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "exit")]);
  return { code: code as number, stdout, stderr };
}
