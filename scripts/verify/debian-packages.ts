// Programs of Debian's packages.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { MissingToolError } from "./verification.ts";

/**
 * Installs packages, without starting their programs as system services.
 * @param hint what to do if this user may not install packages.
 * @throws MissingToolError
 */
export function installDebianPackages(
  packages: readonly string[],
  { hint, print }: { readonly hint: string; readonly print: (line: string) => void },
): void {
  if (process.getuid?.() !== 0) throw new MissingToolError(hint);
  print(`Installing Debian's ${packages.join(", ")}, without starting them as services.`);
  // systemd units are masked before the installation, and in runlevel 1 SysV init starts none.
  spawnSync("systemctl", ["mask", ...packages.map((name) => `${name}.service`)]);
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  const args = ["install", "--quiet", "--yes", "--no-install-recommends", ...packages];
  const { status, stderr, error } = spawnSync("apt-get", args, { env, encoding: "utf8" });
  if (status !== 0) throw new MissingToolError(`apt-get ${args.join(" ")} failed: ${error?.message ?? stderr.trim()}`);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
