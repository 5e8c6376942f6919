// Without a network: a new service has the dependencies of the others, so `npm install` would change only the entries that are written here.
// Without these entries `npm ci` fails in every fresh clone.
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

type Packages = Readonly<Record<string, unknown>>;

interface LockFile {
  readonly packages: Packages;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const lockFile = "package-lock.json";
/** npm's record of what is installed; scripts/bootstrap.mjs compares it with package-lock.json. */
const installedFile = "node_modules/.package-lock.json";

/** The entries of `services/<name>`, whose package.json exists, and the link in node_modules. */
export function addWorkspace(root: string, name: string): void {
  const folder = `services/${name}`;
  const manifest = readJson(join(root, folder, "package.json")) as Manifest;
  const link = linkOf(name);
  editLockFiles(root, (packages) => ({
    ...packages,
    [folder]: { name: manifest.name, version: manifest.version, dependencies: manifest.dependencies },
    [link]: { resolved: folder, link: true },
  }));
  if (!isInstalled(root)) return;
  mkdirSync(dirname(join(root, link)), { recursive: true });
  rmSync(join(root, link), { force: true });
  symlinkSync(join("..", "..", folder), join(root, link));
}

export function removeWorkspace(root: string, name: string): void {
  const link = linkOf(name);
  const removedPaths = new Set([`services/${name}`, link]);
  editLockFiles(root, (packages) => {
    const otherEntries = Object.entries(packages).filter(([path]) => !removedPaths.has(path));
    return Object.fromEntries(otherEntries);
  });
  if (isInstalled(root)) rmSync(join(root, link), { force: true });
}

function linkOf(name: string): string {
  return `node_modules/@tributary/${name}`;
}

/** False if node_modules is a symbolic link, because it belongs to another checkout. */
function isInstalled(root: string): boolean {
  return existsSync(join(root, installedFile)) && !lstatSync(join(root, "node_modules")).isSymbolicLink();
}

function editLockFiles(root: string, change: (packages: Packages) => Packages): void {
  const files = isInstalled(root) ? [lockFile, installedFile] : [lockFile];
  for (const file of files) {
    const path = join(root, file);
    const lock = readJson(path) as LockFile;
    // In npm's order.
    const entries = Object.entries(change(lock.packages)).toSorted(([a], [b]) => a.localeCompare(b, "en"));
    const editedLock = { ...lock, packages: Object.fromEntries(entries) };
    writeFileSync(path, `${JSON.stringify(editedLock, null, 2)}\n`);
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
