import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CommandError } from "../command-line.ts";

/** The hash of each file as `npm run new:service` wrote it, so that a removal loses no edit. Not committed. */
const recordsFile = ".data/new-services.json";

type Records = Readonly<Record<string, string>>;

const listedPathsMax = 5;

/** @param name of a service whose folder is left out. @throws CommandError if a path has uncommitted changes and no command wrote it. */
export function requireNoForeignChanges(
  root: string,
  generated: ReadonlySet<string>,
  action: string,
  name?: string,
): void {
  const changes = findEdits(root).filter((path) => !generated.has(path) && path !== "package-lock.json");
  const others = name === undefined ? changes : changes.filter((path) => !isInService(path, name));
  if (others.length === 0) return;
  throw new CommandError(
    `There are uncommitted changes, which would be mixed with ${action}: ${listSome(others)}\nCommit or stash them, or add --force.`,
  );
}

export function listSome(paths: readonly string[]): string {
  const listed = paths.slice(0, listedPathsMax).join(", ");
  return paths.length > listedPathsMax ? `${listed} and ${paths.length - listedPathsMax} more` : listed;
}

/** What `npm run new:service` did not write, or what was edited after that. */
export function findUnsavedEdits(root: string, name: string): readonly string[] {
  return findEdits(root).filter((path) => isInService(path, name));
}

export function recordFileHashes(root: string, name: string): void {
  const folder = join(root, "services", name);
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const newRecords = paths.map((path) => [path, hashFile(join(root, path))] as const);
  writeRecords(root, { ...readRecords(root), ...Object.fromEntries(newRecords) });
}

/** If no other record remains, deletes `recordsFile`. */
export function forgetFileHashes(root: string, name: string): void {
  if (!existsSync(join(root, recordsFile))) return;
  const otherRecords = Object.entries(readRecords(root)).filter(([path]) => !isInService(path, name));
  if (otherRecords.length > 0) writeRecords(root, Object.fromEntries(otherRecords));
  else rmSync(join(root, recordsFile));
}

function findEdits(root: string): readonly string[] {
  const records = readRecords(root);
  return listUncommittedPaths(root).filter((path) => !isUnedited(root, path, records[path]));
}

function listUncommittedPaths(root: string): readonly string[] {
  const args = ["status", "--porcelain", "--untracked-files=all", "--no-renames", "-z"];
  const output = execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const entries = output.split("\0").filter((entry) => entry !== "");
  // Each entry is two status letters, a space and the path.
  return entries.map((entry) => entry.slice(3));
}

function isInService(path: string, name: string): boolean {
  return path.startsWith(`services/${name}/`);
}

/** @param recordedHash undefined if `npm run new:service` did not write the file. */
function isUnedited(root: string, path: string, recordedHash: string | undefined): boolean {
  const file = join(root, path);
  return recordedHash !== undefined && existsSync(file) && hashFile(file) === recordedHash;
}

function hashFile(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function readRecords(root: string): Records {
  const path = join(root, recordsFile);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Records) : {};
}

function writeRecords(root: string, records: Records): void {
  mkdirSync(dirname(join(root, recordsFile)), { recursive: true });
  writeFileSync(join(root, recordsFile), `${JSON.stringify(records, null, 2)}\n`);
}
