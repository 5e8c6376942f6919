// Installs the Debian packages of third-party programs: of Prometheus, Alertmanager and Redis for alerts, of Varnish for freshness.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { MissingToolError } from "./verification.ts";

/**
 * Installs packages, without starting their programs as system services.
 * @param hint what the user can do instead; the error's message if this process does not run as root.
 * @throws MissingToolError if this process does not run as root, or apt-get fails.
 */
export function installDebianPackages(
  packages: readonly string[],
  { hint, print }: { readonly hint: string; readonly print: (line: string) => void },
): void {
  if (process.getuid?.() !== 0) throw new MissingToolError(hint);
  print(`Installing Debian's ${packages.join(", ")}, without starting them as services.`);
  // Installing a package would start its service: systemd starts no masked unit, and SysV init starts no service in runlevel 1.
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
