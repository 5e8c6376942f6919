import { chmodSync, cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const folders = ["kit", "services", "gateway", "rest-proxy", "infra", "supergraph", "scripts"];

/** The repository's running parts in a folder of their own, so that a test may save files as a team does. */
export function cloneRepository(): string {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), "tributary-clone-")));
  chmodSync(clone, 0o755); // PostgreSQL runs as somebody else when we are root.
  const filter = (path: string) => basename(path) !== "node_modules";
  for (const folder of folders) cpSync(join(repository, folder), join(clone, folder), { recursive: true, filter });
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(repository, file), join(clone, file));
  symlinkSync(join(repository, "node_modules"), join(clone, "node_modules"));
  return clone;
}

export function removeClone(clone: string): void {
  removeLocalPostgres(join(clone, ".data/postgres"));
  rmSync(clone, { recursive: true });
}
