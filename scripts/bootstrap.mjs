// The entry of every npm script, also in a fresh clone: plain JavaScript for Node 20 and newer, without dependencies. It installs the
// packages when needed, then runs the script with the project's Node 24.
//
//   node scripts/bootstrap.mjs scripts/start.ts --fresh     a script
//   node scripts/bootstrap.mjs vitest run                   a program of node_modules/.bin
import { execFileSync, spawn } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const nodeMajor = 24;
const lockWaitMsMax = 10 * 60_000;
const lockPollMs = 200;
const parentPollMs = 500;
const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP"];
/** As in a shell: 128 plus the number of the signal that ended the process. */
const signalCodesAbove = 128;
const scriptFile = /\.(ts|js|mjs)$/;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binFolder = join(root, "node_modules", ".bin");
const projectNode = join(binFolder, "node");
/** npm's list of what it has installed. */
const installedLock = join(root, "node_modules", ".package-lock.json");
/** Contains the pid of the process that installs. */
const lockFile = join(root, ".data", "install.lock");

/** Why packages must be installed; undefined if node_modules matches package-lock.json. */
function findReasonToInstall() {
  const installed = readPackages(installedLock);
  if (installed === undefined) return "node_modules is missing or incomplete";
  const locked = readPackages(join(root, "package-lock.json"));
  if (locked === undefined) throw new Error("package-lock.json is missing or not valid JSON.");
  const differingPath = findDifferingPackage(locked, installed);
  if (differingPath !== undefined) return `node_modules differs from package-lock.json (${differingPath})`;
  const missingPath = Object.keys(installed).find((path) => !existsSync(join(root, path)));
  if (missingPath !== undefined) return `${missingPath} is missing`;
  if (readNodeMajor() !== nodeMajor) return `Node ${nodeMajor} is missing from node_modules`;
  return undefined;
}

// The path of the first package that differs; undefined if none does. Compares contents, because a checkout or a restored cache
// changes modification times. A locked optional package may be missing: npm skips those for other platforms.
function findDifferingPackage(locked, installed) {
  for (const [path, { version, integrity, optional, devOptional }] of Object.entries(locked)) {
    // The root of the repository.
    if (path === "") continue;
    const present = installed[path];
    const mayBeMissing = optional || devOptional;
    if (present === undefined && mayBeMissing) continue;
    const isSame = present !== undefined && present.version === version && present.integrity === integrity;
    if (!isSame) return path;
  }
  return Object.keys(installed).find((path) => locked[path] === undefined);
}

/** The entries of a lock file, by path; undefined if the file is missing or not valid JSON. */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function readNodeMajor() {
  try {
    const version = execFileSync(projectNode, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Number(/^v(\d+)\./.exec(version)?.[1]);
  } catch {
    return undefined;
  }
}

/** In one process at a time. */
async function install() {
  if (findReasonToInstall() === undefined) return;
  await acquireLock();
  try {
    const reason = findReasonToInstall(); // Another process may have installed during the wait.
    if (reason === undefined) return;
    // Adds only what is missing, such as a new service's link: `npm ci` would delete all packages and install them again.
    const hasInstalled = existsSync(installedLock);
    const installCode = hasInstalled ? await runNpm(["install", "--no-save"], reason) : 0;
    if (installCode > signalCodesAbove) throw createInstallError("install", installCode);
    const remaining = findReasonToInstall();
    if (remaining === undefined) return;
    const code = await runNpm(["ci"], remaining);
    if (code !== 0) throw createInstallError("ci", code);
    const lasting = findReasonToInstall();
    if (lasting !== undefined) throw new Error(`npm ci succeeded, but ${lasting}.`);
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function createInstallError(command, exitCode) {
  return Object.assign(new Error(`npm ${command} failed, see above.`), { exitCode });
}

function runNpm(args, reason) {
  process.stderr.write(`Installing with npm ${args[0]}, because ${reason}.\n`);
  // --include=dev: with NODE_ENV=production npm skips devDependencies, and Node 24 is one. --loglevel=error hides warnings
  // of packages that need a newer Node than the installing one; they run under Node 24.
  return run("npm", [...args, "--include=dev", "--loglevel=error"], process.env);
}

async function acquireLock() {
  const temporary = `${lockFile}.${process.pid}`;
  mkdirSync(dirname(lockFile), { recursive: true });
  writeFileSync(temporary, `${process.pid}\n`);
  try {
    const deadlineMs = Date.now() + lockWaitMsMax;
    let isWaiting = false;
    while (!tryLink(temporary, lockFile)) {
      const owner = readOwner();
      if (owner !== undefined && !isAlive(owner)) removeStaleLock(owner);
      if (!isWaiting) process.stderr.write("Another process is installing; waiting for it.\n");
      isWaiting = true;
      if (Date.now() > deadlineMs)
        throw new Error(
          `Process ${owner} has not finished installing within 10 minutes. If it does not run any more, delete ${lockFile} and ${lockFile}.removal.`,
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

// Two processes may find the same stale lock, and the faster one may already have acquired a new lock at its path. So one process
// at a time removes a lock, and reads its owner again first.
function removeStaleLock(owner) {
  const removal = `${lockFile}.removal`;
  try {
    writeFileSync(removal, "", { flag: "wx" });
  } catch (error) {
    if (error.code === "EEXIST") return;
    throw error;
  }
  if (readOwner() === owner) rmSync(lockFile, { force: true });
  rmSync(removal, { force: true });
}

/** The pid in the lock file; undefined if the file was removed, or contains no pid. */
function readOwner() {
  try {
    return Number(readFileSync(lockFile, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0); // Signal 0 only checks whether the process exists.
    return true;
  } catch (error) {
    return error.code === "EPERM"; // It exists, and belongs to another user.
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
    const stopPolling = onNpmExit(() => child.kill("SIGTERM"));
    const removeListeners = () => {
      for (const signal of forwardedSignals) process.off(signal, forward);
      stopPolling();
    };
    child.once("error", (error) => {
      removeListeners();
      reject(error);
    });
    child.once("exit", (code, signal) => {
      removeListeners();
      resolveCode(code ?? 128 + constants.signals[signal]);
    });
  });
}

// Polls whether npm has ended, because `kill -9` of npm sends no signal to this script. If this script was started without npm
// (`node scripts/bootstrap.mjs … &`), it may outlive its parent, and `listener` is never called. Returns a function that ends the polling.
function onNpmExit(listener) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const initialAncestors = readAncestors();
  const timer = setInterval(() => {
    if (readAncestors() === initialAncestors) return;
    clearInterval(timer);
    listener();
  }, parentPollMs);
  return () => clearInterval(timer);
}

// The pid of the parent process and, on Linux, of the grandparent: npm may run this script in a shell, and the shell outlives npm.
function readAncestors() {
  const { ppid } = process;
  try {
    // `pid (name) state ppid …`, see proc(5). The name may contain spaces and parentheses.
    const stat = readFileSync(`/proc/${ppid}/stat`, "utf8");
    const [, grandparent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${ppid} ${grandparent}`;
  } catch {
    return `${ppid}`;
  }
}

/** The program to run for the words of the command line, and the environment variables that only this program gets. */
function toCommand([name, ...args]) {
  if (scriptFile.test(name)) {
    const variables = { NODE_COMPILE_CACHE: join(root, ".data", "compile-cache") };
    return { command: projectNode, args: [resolve(root, name), ...args], variables };
  }
  const program = join(binFolder, name);
  if (!existsSync(program)) throw new Error(`node_modules/.bin has no program ${name}.`);
  return { command: program, args, variables: {} };
}

// With this PATH, programs such as vitest run with the project's Node, too. BOOTSTRAP_PID is for start/command.ts, which stops `npm start` when
// this process has ended.
function createChildEnvironment(env) {
  const path = env.PATH ? `${binFolder}${delimiter}${env.PATH}` : binFolder;
  return { ...env, PATH: path, BOOTSTRAP_PID: String(process.pid) };
}

async function main(words) {
  if (words.length === 0) throw new Error("Usage: node scripts/bootstrap.mjs <script or program> [arguments]");
  await install();
  const { command, args, variables } = toCommand(words);
  process.exitCode = await run(command, args, { ...createChildEnvironment(process.env), ...variables });
}

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode ?? 1;
});
