// The entry of every npm script, also in a fresh clone: plain JavaScript for Node 20 and newer, without dependencies. It runs
// `npm ci` when needed, then runs the script with the project's Node 24.
//
//   node scripts/bootstrap.mjs scripts/start.ts --fresh     a script
//   node scripts/bootstrap.mjs vitest run                   a program of node_modules/.bin
import { execFileSync, spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const nodeMajor = 24;
const lockWaitMsMax = 10 * 60_000;
const lockPollMs = 200;
const parentPollMs = 500;
const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP"];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const node = join(bin, "node");
const lockFile = join(root, ".data", "install.lock");

/** Why `npm ci` must run; undefined if node_modules matches package-lock.json. */
function findReasonToInstall() {
  const installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return "node_modules is missing or incomplete";
  const locked = readPackages(join(root, "package-lock.json"));
  if (locked === undefined) throw new Error("package-lock.json is missing or not valid JSON.");
  const changed = findDifference(locked, installed);
  if (changed !== undefined) return `node_modules differs from package-lock.json (${changed})`;
  return readNodeMajor() === nodeMajor ? undefined : `Node ${nodeMajor} is missing from node_modules`;
}

// The path of the first package that differs; undefined if none does. Compares contents, because a checkout or a restored cache
// changes modification times. A locked optional package may be missing: npm skips those for other platforms.
function findDifference(locked, installed) {
  for (const [path, { version, integrity, optional, devOptional }] of Object.entries(locked)) {
    if (path === "") continue;
    const present = installed[path];
    if (present === undefined && (optional || devOptional)) continue;
    if (present === undefined || present.version !== version || present.integrity !== integrity) return path;
  }
  return Object.keys(installed).find((path) => locked[path] === undefined);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function readNodeMajor() {
  try {
    const text = execFileSync(node, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Number(/^v(\d+)\./.exec(text)?.[1]);
  } catch {
    return undefined;
  }
}

/** Runs `npm ci` if needed, in one process at a time. */
async function install() {
  if (findReasonToInstall() === undefined) return;
  await acquireLock();
  try {
    const reason = findReasonToInstall(); // Another process may have installed during the wait.
    if (reason === undefined) return;
    process.stderr.write(`Installing with npm ci, because ${reason}.\n`);
    // --include=dev: with NODE_ENV=production npm skips devDependencies, and Node 24 is one. --loglevel=error hides warnings
    // of packages that need a newer Node than the installing one; they run under Node 24.
    const code = await run("npm", ["ci", "--include=dev", "--loglevel=error"], process.env);
    if (code !== 0) throw Object.assign(new Error("npm ci failed, see above."), { exitCode: code });
    const remaining = findReasonToInstall();
    if (remaining !== undefined) throw new Error(`npm ci succeeded, but ${remaining}.`);
  } finally {
    rmSync(lockFile, { force: true });
  }
}

async function acquireLock() {
  const temporary = `${lockFile}.${process.pid}`;
  mkdirSync(dirname(lockFile), { recursive: true });
  writeFileSync(temporary, `${process.pid}\n`);
  try {
    const deadline = Date.now() + lockWaitMsMax;
    for (let waiting = false; !tryLink(temporary, lockFile); waiting = true) {
      const owner = readOwner();
      if (owner !== undefined && !isAlive(owner)) removeStaleLock(owner);
      if (!waiting) process.stderr.write("Another process is installing; waiting for it.\n");
      if (Date.now() > deadline)
        throw new Error(
          `Process ${owner} has not finished installing within 10 minutes. If it does not run any more, delete ${lockFile}.`,
        );
      await sleep(lockPollMs);
    }
  } finally {
    rmSync(temporary, { force: true });
  }
}

// Creating a link is atomic: the file appears with its content, and only one process succeeds.
function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

// Two processes may find the same stale lock, and the faster one may already have acquired a new lock at its path. So this renames
// the lock first and reads its owner again; a lock of another owner is put back.
function removeStaleLock(owner) {
  const stale = `${lockFile}.stale.${process.pid}`;
  try {
    renameSync(lockFile, stale);
    if (Number(readFileSync(stale, "utf8")) !== owner) tryLink(stale, lockFile);
    rmSync(stale, { force: true });
  } catch {
    // Another process has removed it.
  }
}

function readOwner() {
  try {
    return Number(readFileSync(lockFile, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * Runs a program in the foreground, forwards signals to it, and resolves with its exit code (128 + number for a signal).
 * Uses spawn: with spawnSync, Ctrl-C would end this process and leave the program running.
 */
function run(command, args, env) {
  return new Promise((resolveCode, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: "inherit" });
    const forward = (signal) => child.kill(signal);
    for (const signal of forwardedSignals) process.on(signal, forward);
    const stopWatching = onNpmExit(() => child.kill("SIGTERM"));
    const finish = () => {
      for (const signal of forwardedSignals) process.off(signal, forward);
      stopWatching();
    };
    child.once("error", (error) => {
      finish();
      reject(error);
    });
    child.once("exit", (code, signal) => {
      finish();
      resolveCode(code ?? 128 + constants.signals[signal]);
    });
  });
}

// Polls whether npm has ended, because `kill -9` of npm sends no signal to this script. If this script was started without npm
// (`node scripts/bootstrap.mjs … &`), it may outlive its parent, and `listener` is never called.
function onNpmExit(listener) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const before = readAncestors();
  const timer = setInterval(() => {
    if (readAncestors() === before) return;
    clearInterval(timer);
    listener();
  }, parentPollMs);
  return () => clearInterval(timer);
}

// The pid of the parent process and, on Linux, of the grandparent: npm may run this script in a shell, and the shell outlives npm.
function readAncestors() {
  const { ppid } = process;
  try {
    const stat = readFileSync(`/proc/${ppid}/stat`, "utf8");
    return `${ppid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]}`;
  } catch {
    return `${ppid}`;
  }
}

function toCommand([name, ...args]) {
  if (/\.(ts|js|mjs)$/.test(name)) {
    const compileCache = { NODE_COMPILE_CACHE: join(root, ".data", "compile-cache") };
    return { command: node, args: [resolve(root, name), ...args], extra: compileCache };
  }
  if (!existsSync(join(bin, name))) throw new Error(`node_modules/.bin has no program ${name}.`);
  return { command: join(bin, name), args, extra: {} };
}

// BOOTSTRAP_PID is for start/command.ts, which stops `npm start` when this process has ended.
function withProjectsBin(env) {
  return { ...env, PATH: [bin, env.PATH].filter(Boolean).join(delimiter), BOOTSTRAP_PID: String(process.pid) };
}

async function main(words) {
  if (words.length === 0) throw new Error("Usage: node scripts/bootstrap.mjs <script or program> [arguments]");
  await install();
  const { command, args, extra } = toCommand(words);
  process.exitCode = await run(command, args, { ...withProjectsBin(process.env), ...extra });
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode ?? 1;
});
