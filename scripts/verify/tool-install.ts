import { spawnSync } from "node:child_process";
import { join, relative } from "node:path";

/**
 * Installs the npm packages of a folder of tools/ if they are missing, for the verifications cache and openapi, or those of examples/web. The folder
 * has a separate package.json, because these packages are no dependencies of the platform.
 * @returns why the installation failed; undefined if the tools are installed.
 */
export function installTool(folder: string): string | undefined {
  // Fails if a package is missing, or has another version than the folder's package.json names.
  if (spawnSync("npm", ["ls", "--all"], { cwd: folder }).status === 0) return undefined;
  const command = `npm ci in ${relative(join(import.meta.dirname, "../.."), folder)}`;
  console.log(`Installing by ${command}.`);
  const { status, error } = spawnSync("npm", ["ci", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  return status === 0 ? undefined : `${command} failed (${error?.message ?? `exit code ${status}`})`;
}
