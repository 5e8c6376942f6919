import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where Chromium is, or why there is none. */
export type Chromium = { readonly path: string } | { readonly missing: string };

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const installTimeoutMs = 300_000;

/**
 * Finds Chromium, or installs Debian's where that can be done: as root, with apt-get.
 * @param chosen a path that goes before the usual places.
 */
export function findOrInstallChromium(chosen: string | undefined, say: (line: string) => void): Chromium {
  const found = findChromium(chosen);
  if (found !== undefined) return { path: found };
  if (chosen !== undefined) return { missing: `there is nothing at CHROMIUM_PATH=${chosen}` };
  if (!existsSync("/usr/bin/apt-get"))
    return { missing: "Chromium is not installed, and there is no apt-get to install it with" };
  if (process.getuid?.() !== 0) return { missing: "Chromium is not installed; as root: apt-get install chromium" };
  say("Chromium is not installed: installing Debian's …");
  const problem = install();
  const installed = findChromium(undefined);
  return installed === undefined ? { missing: `Chromium could not be installed: ${problem}` } : { path: installed };
}

function findChromium(chosen: string | undefined): string | undefined {
  return (chosen === undefined ? places : [chosen]).find((path) => existsSync(path));
}

function install(): string {
  apt(["update"]); // Where this fails the lists may still be good enough.
  const { status, stderr, error } = apt(["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"]);
  return error?.message ?? (status === 0 ? "apt-get installed it, but not where it is looked for" : lastLine(stderr));
}

function apt(args: readonly string[]) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", ["-q", ...args], { encoding: "utf8", env, timeout: installTimeoutMs });
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "apt-get failed";
}
