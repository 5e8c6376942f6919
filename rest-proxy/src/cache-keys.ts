import type { RouteTable } from "./route-table.ts";
import { readVersion } from "./versions.ts";

/** Only there so that references can be resolved; nothing is ever asked of it. */
const base = "http://self.invalid";

/**
 * The keys of what a reference of a service speaks of: a write under one version changes what all of them show, so the keys of all of them.
 * None for another origin's, and for what is not in the table.
 */
export function createKeysOf(table: RouteTable): (reference: string, key: string) => readonly string[] {
  return (reference, key) => {
    if (!URL.canParse(reference, base + key)) return [];
    const { origin, pathname } = new URL(reference, base + key);
    if (origin !== base) return [];
    const { path } = readVersion(pathname);
    return table.versionsAt(path).flatMap((version) => table.find(version, path)?.path ?? []);
  };
}
