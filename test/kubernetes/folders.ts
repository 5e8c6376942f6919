import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const kubernetes = join(root, "infra/kubernetes");

/** What somebody applies, in the order of a first deployment. */
export const applied = ["local", "production"].flatMap((overlay) =>
  ["ground", "migrations", "."].map((part) => join("overlays", overlay, part)),
);

/** Every YAML file below infra/kubernetes, by its path from there. */
export function listFiles(): readonly string[] {
  return readdirSync(kubernetes, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yaml"));
}
