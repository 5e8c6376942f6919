import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const packages = ["prometheus", "prometheus-alertmanager"];

/** Paths of programs that others wrote. */
export interface Programs {
  readonly prometheus: string;
  readonly promtool: string;
  readonly alertmanager: string;
  readonly amtool: string;
}

/**
 * Those of a folder, of PATH, or of Debian's packages, which are installed when they are missing; as services of the system they are never
 * started.
 * @returns why they cannot be had, in words.
 */
export function findPrograms(folder: string | undefined, print: (line: string) => void): Programs | string {
  if (folder !== undefined) return findIn([folder]) ?? `not all of them are in ${folder}`;
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const found = findIn(path);
  if (found) return found;
  if (process.getuid?.() !== 0) return `install ${packages.join(" and ")}, or say --programs FOLDER`;
  print(`Installing Debian's ${packages.join(" and ")}, without starting them as services.`);
  return install() ?? findIn(path) ?? "Debian's packages do not have them";
}

function findIn(folders: readonly string[]): Programs | undefined {
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
  // Masked before they come, for systemd; in runlevel 1 the older way of starting services starts none.
  spawnSync("systemctl", ["mask", ...packages.map((name) => `${name}.service`)]);
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  const args = ["install", "--quiet", "--yes", "--no-install-recommends", ...packages];
  const { status, stderr, error } = spawnSync("apt-get", args, { env, encoding: "utf8" });
  return status === 0 ? undefined : `apt-get ${args.join(" ")} failed: ${error?.message ?? stderr.trim()}`;
}
