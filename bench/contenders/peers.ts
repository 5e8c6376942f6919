// The packages in bench/peers: contenders that are not Tributary's. main.ts installs them before it measures.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "bench/peers");

/** Installs the exact versions of `bench/peers/package.json` if they are missing. Returns why it failed; undefined if they are installed. */
export function installPeers(): string | undefined {
  if (findMismatch() === undefined) return undefined;
  const command = "npm install --no-save in bench/peers";
  console.log(`Installing by ${command}.`);
  const { status, error } = spawnSync("npm", ["install", "--no-save", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
  });
  if (status !== 0) return `${command} failed (${error?.message ?? `exit code ${status}`})`;
  return findMismatch();
}

interface PeersPackage {
  /** Exact versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Compares the installed versions with those of package.json. npm writes node_modules/.package-lock.json when an installation is complete.
 * @returns undefined if all are equal.
 */
function findMismatch(): string | undefined {
  const isComplete = existsSync(join(folder, "node_modules/.package-lock.json"));
  if (!isComplete) return "the installation in bench/peers is incomplete";
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PeersPackage;
  for (const [name, version] of Object.entries(dependencies)) {
    const installed = readPackageVersion(name, "peers");
    if (installed !== version) return `bench/peers requires ${name} ${version}, actual: ${installed}`;
  }
  return undefined;
}

/** Returns the installed version of a package of the root or of `bench/peers`. */
export function readPackageVersion(name: string, from: "root" | "peers"): string {
  const parentFolder = from === "peers" ? folder : root;
  const file = join(parentFolder, "node_modules", name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : "not installed";
}
