import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installTool } from "../../scripts/processes/tool-install.ts";

const folder = join(import.meta.dirname, "../peers");

/** Installs the other gateways when they are missing. Returns why they cannot be had, in words; undefined when they are there. */
export function installPeers(): string | undefined {
  return installTool(folder);
}

/** The version of a peer that is installed, or of a package of the root. */
export function readVersion(name: string, from: "root" | "peers"): string {
  const modules = join(from === "peers" ? folder : join(folder, "../.."), "node_modules");
  const file = join(modules, name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : "not installed";
}
