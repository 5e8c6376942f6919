// What git has not committed yet, and which of it these commands wrote themselves.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The hash of each new service's folder as `npm run new:service` wrote it, so that its removal loses no edit. Not committed. */
const recordsFile = ".data/new-services.json";

/**
 * The uncommitted paths that neither `npm run generate` nor `npm run new:service` wrote.
 * @param generated the paths of the generated files.
 * @throws Error if the folder is not a git repository.
 */
export function findForeignChanges(root: string, generated: ReadonlySet<string>): readonly string[] {
  const isOwn = (path: string) =>
    generated.has(path) || path === "package-lock.json" || isUnedited(root, serviceOf(path));
  return listChanges(root).filter((path) => !isOwn(path));
}

/** The uncommitted files of a service's folder; none if they are as `npm run new:service` wrote them. */
export function findUnsavedEdits(root: string, name: string): readonly string[] {
  return isUnedited(root, name) ? [] : listChanges(root).filter((path) => serviceOf(path) === name);
}

export function recordNewService(root: string, name: string): void {
  writeRecords(root, { ...readRecords(root), [name]: hashFolder(root, name) });
}

export function forgetNewService(root: string, name: string): void {
  if (!existsSync(join(root, recordsFile))) return;
  const { [name]: _, ...others } = readRecords(root);
  if (Object.keys(others).length > 0) writeRecords(root, others);
  else rmSync(join(root, recordsFile));
}

function listChanges(root: string): readonly string[] {
  const args = ["status", "--porcelain", "--untracked-files=all", "--no-renames", "-z"];
  const text = execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return text.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

function serviceOf(path: string): string | undefined {
  return /^services\/([^/]+)\//.exec(path)?.[1];
}

function isUnedited(root: string, name: string | undefined): boolean {
  return name !== undefined && readRecords(root)[name] === hashFolder(root, name);
}

/** The hash of all paths and contents of a service's folder, without what npm installs there. */
function hashFolder(root: string, name: string): string {
  const folder = join(root, "services", name);
  const hash = createHash("sha256");
  if (!existsSync(folder)) return "none";
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("node_modules"));
  for (const path of files.toSorted()) hash.update(`${path.slice(folder.length)}\0`).update(readFileSync(path));
  return hash.digest("hex");
}

function readRecords(root: string): Readonly<Record<string, string>> {
  const path = join(root, recordsFile);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, string>) : {};
}

function writeRecords(root: string, records: Readonly<Record<string, string>>): void {
  mkdirSync(dirname(join(root, recordsFile)), { recursive: true });
  writeFileSync(join(root, recordsFile), `${JSON.stringify(records, null, 2)}\n`);
}
