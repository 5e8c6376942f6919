import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const kubernetes = join(root, "infra/kubernetes");

/** The folders that an operator applies for each overlay, in the order of a first deployment. */
export const overlayFolders: Readonly<Record<string, readonly string[]>> = {
  local: ["prerequisites", "migrations", "seed", "."],
  production: ["prerequisites", "migrations", "."],
};

export const appliedFolders = Object.entries(overlayFolders).flatMap(([overlay, folders]) =>
  folders.map((folder) => join("overlays", overlay, folder)),
);

/** Every YAML file below infra/kubernetes, as a relative path. */
export function listFiles(): readonly string[] {
  return readdirSync(kubernetes, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yaml"));
}
