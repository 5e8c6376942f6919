import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const packages = ["prometheus", "prometheus-alertmanager"];

/** Paths of the monitoring programs. */
export interface MonitoringPrograms {
  readonly prometheus: string;
  readonly promtool: string;
  readonly alertmanager: string;
  readonly amtool: string;
}

/**
 * Finds the programs in a folder, in PATH, or in Debian's packages, which are installed if missing, but never started as system services.
 * @returns the reason as a text if they are not available.
 */
export function findPrograms(folder: string | undefined, print: (line: string) => void): MonitoringPrograms | string {
  if (folder !== undefined) return findIn([folder]) ?? `${folder} does not contain all of them`;
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const installed = findIn(path);
  if (installed) return installed;
  if (process.getuid?.() !== 0) return `install ${packages.join(" and ")}, or use --programs FOLDER`;
  print(`Installing Debian's ${packages.join(" and ")}, without starting them as services.`);
  return install() ?? findIn(path) ?? "Debian's packages do not contain them";
}

function findIn(folders: readonly string[]): MonitoringPrograms | undefined {
  const find = (...names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
  const [prometheus, promtool, amtool] = [find("prometheus"), find("promtool"), find("amtool")];
  const alertmanager = find("alertmanager", "prometheus-alertmanager");
  return prometheus && promtool && alertmanager && amtool ? { prometheus, promtool, alertmanager, amtool } : undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install(): string | undefined {
  // Prevents that the packages start services: systemd units are masked before the installation, and in runlevel 1 SysV init starts none.
  spawnSync("systemctl", ["mask", ...packages.map((name) => `${name}.service`)]);
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  const args = ["install", "--quiet", "--yes", "--no-install-recommends", ...packages];
  const { status, stderr, error } = spawnSync("apt-get", args, { env, encoding: "utf8" });
  return status === 0 ? undefined : `apt-get ${args.join(" ")} failed: ${error?.message ?? stderr.trim()}`;
}
