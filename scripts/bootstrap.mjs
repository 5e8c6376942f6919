// The first thing that runs in a fresh clone: plain JavaScript for Node 20 and newer, with nothing but npm. It installs
// when needed, then hands over to the project's own Node 24.
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

/** Why `npm ci` has to run, in words; undefined when everything is as the lock file says. */
function findReasonToInstall() {
  const installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return "node_modules is missing or incomplete";
  const locked = readPackages(join(root, "package-lock.json"));
  if (locked === undefined) throw new Error("package-lock.json is missing or broken.");
  const changed = findDifference(locked, installed);
  if (changed !== undefined) return `node_modules differs from package-lock.json (${changed})`;
  return readNodeMajor() === nodeMajor ? undefined : `Node ${nodeMajor} is missing from node_modules`;
}

// The times of the two files say little (a checkout touches one, a restored cache the other), so we compare what is in
// them. npm leaves out optional packages made for other platforms.
function findDifference(locked, installed) {
  for (const [path, { version, integrity, optional, devOptional }] of Object.entries(locked)) {
    if (path === "") continue;
    const other = installed[path];
    if (other === undefined && (optional || devOptional)) continue;
    if (other === undefined || other.version !== version || other.integrity !== integrity) return path;
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

/** Installs when there is a reason, one process at a time. */
async function install() {
  if (findReasonToInstall() === undefined) return;
  await takeLock();
  try {
    const reason = findReasonToInstall(); // Somebody else may have installed while we waited.
    if (reason === undefined) return;
    process.stderr.write(`Installing with npm ci, because ${reason}.\n`);
    // --include=dev: with NODE_ENV=production npm leaves devDependencies out, and Node 24 is one. --loglevel=error: the
    // warnings are of packages that want a newer Node than the one that installs them; they get it.
    const code = await run("npm", ["ci", "--include=dev", "--loglevel=error"], process.env);
    if (code !== 0) throw Object.assign(new Error("npm ci failed, see above."), { exitCode: code });
    const still = findReasonToInstall();
    if (still !== undefined) throw new Error(`npm ci has run, and yet ${still}.`);
  } finally {
    rmSync(lockFile, { force: true });
  }
}

async function takeLock() {
  const mine = `${lockFile}.${process.pid}`;
  mkdirSync(dirname(lockFile), { recursive: true });
  writeFileSync(mine, `${process.pid}\n`);
  try {
    const deadline = Date.now() + lockWaitMsMax;
    for (let waiting = false; !linked(mine, lockFile); waiting = true) {
      const owner = readOwner();
      if (owner !== undefined && !isAlive(owner)) removeStaleLock(owner);
      if (!waiting) process.stderr.write("Another process is installing; waiting for it.\n");
      if (Date.now() > deadline) throw new Error(`Gave up waiting for process ${owner}: see ${lockFile}.`);
      await sleep(lockPollMs);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

// A link appears together with its content, and only once.
function linked(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

// Two may find the same stale lock. Moving it away before looking again keeps the slower one from removing the lock that
// the faster one has taken since.
function removeStaleLock(owner) {
  const aside = `${lockFile}.stale.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    if (Number(readFileSync(aside, "utf8")) !== owner) linked(aside, lockFile);
    rmSync(aside, { force: true });
  } catch {
    // Somebody else was faster.
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
 * Runs a program in the foreground, hands it our signals, and resolves with its exit code (128 + number for a signal).
 * Never with spawnSync: Ctrl-C would end us, and leave the program running.
 */
function run(command, args, env) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, env, stdio: "inherit" });
    const forward = (signal) => child.kill(signal);
    for (const signal of forwardedSignals) process.on(signal, forward);
    const stopWatching = onNpmGone(() => child.kill("SIGTERM"));
    const finish = () => {
      for (const signal of forwardedSignals) process.off(signal, forward);
      stopWatching();
    };
    child.once("error", (error) => {
      finish();
      fail(error);
    });
    child.once("exit", (code, signal) => {
      finish();
      done(code ?? 128 + constants.signals[signal]);
    });
  });
}

// `kill -9` of npm reaches only npm. What it started should not live on unseen. Started by hand we may well outlive our
// parent (`node scripts/bootstrap.mjs … &`), so this is for npm's children only.
function onNpmGone(act) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const before = readAncestors();
  const timer = setInterval(() => {
    if (readAncestors() === before) return;
    clearInterval(timer);
    act();
  }, parentPollMs);
  return () => clearInterval(timer);
}

// Between npm and us there may be its shell, which outlives it; whose child that is only Linux tells cheaply.
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
  if (!existsSync(join(bin, name))) throw new Error(`There is no ${name} in node_modules/.bin.`);
  return { command: join(bin, name), args, extra: {} };
}

function withProjectsBin(env) {
  return { ...env, PATH: [bin, env.PATH].filter(Boolean).join(delimiter), BOOTSTRAP_PID: String(process.pid) };
}

async function main(words) {
  if (words.length === 0)
    throw new Error("What shall I run? node scripts/bootstrap.mjs <script or program> [arguments]");
  await install();
  const { command, args, extra } = toCommand(words);
  process.exitCode = await run(command, args, { ...withProjectsBin(process.env), ...extra });
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode ?? 1;
});
