import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Account, isEnterable } from "./account.ts";
import { worldReadableFolder } from "./binaries.ts";
import { endLeftover } from "./leftover.ts";

/** The programs cannot open a data folder of another version. */
export const postgresMajor = "18";
const initdbTimeoutMs = 120_000;
const initdbArguments = [
  "--username=postgres",
  "--auth=scram-sha-256",
  "--encoding=UTF8",
  "--locale=C",
  "--no-instructions",
];
const runProgram = promisify(execFile);

/** Messages in English, UTC, and no secrets of the parent process. */
export const bareEnvironment = { LC_ALL: "C", TZ: "UTC" };

/** If `account` may not enter the parent folder, the data is in /var/lib/tributary, and `directory` is a link to it. */
export async function placeDataFolder(
  directory: string,
  account: Account | undefined,
  log: (line: string) => void,
): Promise<string> {
  mkdirSync(dirname(directory), { recursive: true, mode: 0o755 });
  const isDanglingLink = isLink(directory) && !existsSync(directory);
  if (isDanglingLink) rmSync(directory);
  if (existsSync(directory)) return realpathSync(directory);
  const parent = realpathSync(dirname(directory));
  const path = join(parent, basename(directory));
  if (account === undefined || isEnterable(parent, account)) return path;
  const clusterName = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const target = join(worldReadableFolder, "clusters", clusterName);
  await removeUnlinked(target, log);
  mkdirSync(target, { recursive: true, mode: 0o755 });
  chownSync(target, account.uid, account.gid);
  symlinkSync(target, path);
  return target;
}

/** The link `directory` may have been removed (rm -rf .data). Stops a server that still runs on the data. */
async function removeUnlinked(folder: string, log: (line: string) => void): Promise<void> {
  if (!existsSync(folder)) return;
  await endLeftover(folder, log);
  rmSync(folder, { recursive: true, force: true });
}

/**
 * In a temporary folder that is renamed, so that a killed process leaves no incomplete cluster. @throws Error for other files or versions.
 */
export async function ensureCluster(folder: string, initdb: string, account: Account | undefined): Promise<void> {
  const version = readVersion(folder);
  if (version === postgresMajor) return;
  if (version !== undefined)
    throw new Error(`${folder} belongs to PostgreSQL ${version}, but ${postgresMajor} is installed.`);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is neither empty nor a PostgreSQL data folder.`);
  removePartial(folder);
  const partial = `${folder}.new`;
  const passwordFile = `${partial}-password`;
  mkdirSync(partial, { mode: 0o700 });
  writeFileSync(passwordFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
  if (account) {
    chownSync(partial, account.uid, account.gid);
    chownSync(passwordFile, account.uid, account.gid);
  }
  await runProgram(initdb, [...initdbArguments, `--pgdata=${partial}`, `--pwfile=${passwordFile}`], {
    uid: account?.uid,
    gid: account?.gid,
    cwd: "/",
    env: bareEnvironment,
    timeout: initdbTimeoutMs,
  });
  renameSync(passwordFile, passwordFileOf(partial));
  renameSync(partial, folder);
}

export function readSuperuserPassword(folder: string): string {
  return readFileSync(passwordFileOf(folder), "utf8").trim();
}

/** Also behind a link. The server must be stopped. */
export function removeDataFolder(directory: string): void {
  if (isLink(directory) && existsSync(directory)) rmSync(realpathSync(directory), { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
  removePartial(directory);
}

function removePartial(folder: string): void {
  for (const path of [`${folder}.new`, `${folder}.new-password`]) rmSync(path, { recursive: true, force: true });
}

function readVersion(folder: string): string | undefined {
  const file = join(folder, "PG_VERSION");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

function passwordFileOf(folder: string): string {
  return join(folder, "superuser-password");
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
