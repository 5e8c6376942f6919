import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const kubernetes = join(root, "infra/kubernetes");

/** What somebody applies of each overlay, in the order of a first deployment. */
export const parts: Readonly<Record<string, readonly string[]>> = {
  local: ["ground", "migrations", "seed", "."],
  production: ["ground", "migrations", "."],
};

export const applied = Object.entries(parts).flatMap(([overlay, folders]) =>
  folders.map((folder) => join("overlays", overlay, folder)),
);

/** Every YAML file below infra/kubernetes, by its path from there. */
export function listFiles(): readonly string[] {
  return readdirSync(kubernetes, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yaml"));
}
