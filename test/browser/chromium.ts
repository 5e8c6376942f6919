import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** The path of Chromium, or the reason why it is missing. */
export type Chromium = { readonly path: string } | { readonly missing: string };

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const installTimeoutMs = 300_000;

/**
 * Finds Chromium, or installs it with apt-get if the process runs as root.
 * @param chosen a path that replaces the default ones
 */
export function findOrInstallChromium(chosen: string | undefined, report: (line: string) => void): Chromium {
  const path = findChromium(chosen);
  if (path !== undefined) return { path };
  if (chosen !== undefined) return { missing: `CHROMIUM_PATH=${chosen} does not exist` };
  if (!existsSync("/usr/bin/apt-get")) return { missing: "Chromium is not installed, and apt-get is not available" };
  if (process.getuid?.() !== 0) return { missing: "Chromium is not installed; as root: apt-get install chromium" };
  report("Chromium is not installed: installing it with apt-get …");
  const problem = install();
  const installed = findChromium(undefined);
  return installed === undefined ? { missing: `Chromium could not be installed: ${problem}` } : { path: installed };
}

/** @param chosen a path that replaces the default ones */
export function findChromium(chosen?: string): string | undefined {
  return (chosen === undefined ? places : [chosen]).find((path) => existsSync(path));
}

function install(): string {
  apt(["update"]); // If this fails, the existing package lists may suffice.
  const { status, stderr, error } = apt(["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]);
  return error?.message ?? (status === 0 ? "apt-get installed it at an unexpected path" : lastLine(stderr));
}

function apt(args: readonly string[]) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", ["-q", ...args], { encoding: "utf8", env, timeout: installTimeoutMs });
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "apt-get failed";
}
