// Finds the uncommitted changes for new-service.ts and remove-service.ts, without files that `npm run new:service` wrote and that are unedited.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The hash of each file as `npm run new:service` wrote it, by its path, so that a removal loses no edit. Not committed. */
const recordsFile = ".data/new-services.json";

type Records = Readonly<Record<string, string>>;

/**
 * The uncommitted paths that neither `npm run generate` nor `npm run new:service` wrote.
 * @param generated the paths of the generated files.
 * @param name of a service whose folder is left out.
 */
export function findForeignChanges(root: string, generated: ReadonlySet<string>, name?: string): readonly string[] {
  // Without a name no path is left out: git lists none that begins with `services/./`.
  return findEdits(root).filter(
    (path) => !generated.has(path) && path !== "package-lock.json" && !isIn(path, name ?? "."),
  );
}

/** The uncommitted files of a service's folder that `npm run new:service` did not write, or that were edited after that. */
export function findUnsavedEdits(root: string, name: string): readonly string[] {
  return findEdits(root).filter((path) => isIn(path, name));
}

export function recordNewService(root: string, name: string): void {
  const folder = join(root, "services", name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const records = files.map((path) => [path, hashFile(join(root, path))] as const);
  writeRecords(root, { ...readRecords(root), ...Object.fromEntries(records) });
}

export function forgetNewService(root: string, name: string): void {
  if (!existsSync(join(root, recordsFile))) return;
  const others = Object.entries(readRecords(root)).filter(([path]) => !isIn(path, name));
  if (others.length > 0) writeRecords(root, Object.fromEntries(others));
  else rmSync(join(root, recordsFile));
}

function findEdits(root: string): readonly string[] {
  const records = readRecords(root);
  return listChanges(root).filter((path) => !isUnedited(root, path, records[path]));
}

function listChanges(root: string): readonly string[] {
  const args = ["status", "--porcelain", "--untracked-files=all", "--no-renames", "-z"];
  const text = execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  // Each entry is two status letters, a space and the path.
  return text.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

function isIn(path: string, name: string): boolean {
  return path.startsWith(`services/${name}/`);
}

function isUnedited(root: string, path: string, hash: string | undefined): boolean {
  const file = join(root, path);
  return hash !== undefined && existsSync(file) && hashFile(file) === hash;
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
