import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installTool } from "../../scripts/processes/tool-install.ts";

const folder = join(import.meta.dirname, "../peers");

/** Installs the other gateways if they are missing. Returns why the installation failed; undefined if they are installed. */
export function installPeers(): string | undefined {
  return installTool(folder);
}

/** Returns the installed version of a package of the root or of `bench/peers`. */
export function readPackageVersion(name: string, from: "root" | "peers"): string {
  const modules = join(from === "peers" ? folder : join(folder, "../.."), "node_modules");
  const file = join(modules, name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : "not installed";
}
