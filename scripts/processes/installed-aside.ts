import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Installs what a folder's own package.json names, when it is missing: programs of others that nothing of ours is built on.
 * @returns why it cannot be had, in words; undefined when it is there.
 */
export function installAside(folder: string): string | undefined {
  if (isInstalled(folder)) return undefined;
  const what = `npm ci in ${relative(join(import.meta.dirname, "../.."), folder)}`;
  console.log(`Installing by ${what}.`);
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  return status === 0 ? undefined : `${what} failed (${error?.message ?? `exit code ${status}`})`;
}

/** npm writes what it installed last of all; the versions say whether it is what the lock file wants today. */
function isInstalled(folder: string): boolean {
  const installed = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(installed)) return false;
  const { dependencies } = readJson(join(folder, "package.json"));
  const { packages } = readJson(installed);
  return Object.entries(dependencies).every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, "utf8"));
}
