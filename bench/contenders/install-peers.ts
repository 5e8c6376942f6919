import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../peers");

/** Installs the other gateways when they are missing. Returns why they cannot be had, in words; undefined when they are there. */
export function installPeers(): string | undefined {
  if (isInstalled()) return undefined;
  console.log("Installing the other gateways with npm ci in bench/peers.");
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  if (status === 0) return undefined;
  return `npm ci in bench/peers failed (${error?.message ?? `exit code ${status}`})`;
}

/** npm writes what it installed last of all; the versions say whether it is what the lock file wants today. */
function isInstalled(): boolean {
  const installed = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const { dependencies } = readJson(join(folder, "package.json"));
  const { packages } = readJson(installed);
  return Object.entries(dependencies).every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The version of a peer that is installed, or of a package of the root. */
export function readVersion(name: string, from: "root" | "peers"): string {
  const modules = join(from === "peers" ? folder : join(folder, "../.."), "node_modules");
  const file = join(modules, name, "package.json");
  return existsSync(file) ? readJson(file).version : "not installed";
}
