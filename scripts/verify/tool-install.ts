import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Installs the npm packages of a folder of tools/ if they are missing, for the verifications cache and openapi, or those of examples/web. The folder
 * has a separate package.json, because these packages are no dependencies of the platform.
 * @returns why the installation failed; undefined if the tools are installed.
 */
export function installTool(folder: string): string | undefined {
  if (isInstalled(folder)) return undefined;
  const command = `npm ci in ${relative(join(import.meta.dirname, "../.."), folder)}`;
  console.log(`Installing by ${command}.`);
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  return status === 0 ? undefined : `${command} failed (${error?.message ?? `exit code ${status}`})`;
}

/** npm writes node_modules/.package-lock.json last, so the file shows that an earlier installation was complete. */
function isInstalled(folder: string): boolean {
  const installedLockFile = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(installedLockFile)) return false;
  const { dependencies } = readJson(join(folder, "package.json"));
  const { packages } = readJson(installedLockFile);
  // package.json names exact versions.
  return Object.entries(dependencies).every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
}

function readJson(file: string) {
  return JSON.parse(readFileSync(file, "utf8"));
}
