// Adds a folder of services/ to npm's workspaces, or removes it, without a network: a new service has the dependencies of the other services, so
// `npm install` would change only the entries that are written here. Without these entries `npm ci` fails in every fresh clone.
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface LockFile {
  readonly packages: Readonly<Record<string, unknown>>;
}

const lockFile = "package-lock.json";
/** npm's record of what is installed; scripts/bootstrap.mjs compares it with package-lock.json. */
const installedFile = "node_modules/.package-lock.json";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Adds the entries of `services/<name>`, whose package.json exists, and the link in node_modules. */
export function addWorkspace(root: string, name: string): void {
  const folder = `services/${name}`;
  const { version, dependencies, name: packageName } = readJson(join(root, folder, "package.json")) as Manifest;
  const link = linkOf(name);
  edit(root, (packages) => ({
    ...packages,
    [folder]: { name: packageName, version, dependencies },
    [link]: { resolved: folder, link: true },
  }));
  if (!isInstalled(root)) return;
  mkdirSync(dirname(join(root, link)), { recursive: true });
  rmSync(join(root, link), { force: true });
  symlinkSync(join("..", "..", folder), join(root, link));
}

/** Removes what `addWorkspace` added. */
export function removeWorkspace(root: string, name: string): void {
  const removed = new Set([`services/${name}`, linkOf(name)]);
  edit(root, (packages) => Object.fromEntries(Object.entries(packages).filter(([path]) => !removed.has(path))));
  if (isInstalled(root)) rmSync(join(root, linkOf(name)), { force: true });
}

function linkOf(name: string): string {
  return `node_modules/@tributary/${name}`;
}

/** False if node_modules is a symbolic link, because it belongs to another checkout. */
function isInstalled(root: string): boolean {
  return existsSync(join(root, installedFile)) && !lstatSync(join(root, "node_modules")).isSymbolicLink();
}

function edit(root: string, change: (packages: LockFile["packages"]) => LockFile["packages"]): void {
  for (const file of [lockFile, ...(isInstalled(root) ? [installedFile] : [])]) {
    const path = join(root, file);
    const lock = readJson(path) as LockFile;
    // In npm's order.
    const packages = Object.entries(change(lock.packages)).toSorted(([a], [b]) => a.localeCompare(b, "en"));
    writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`);
  }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
