import { chmodSync, cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const folders = ["clients", "kit", "services", "gateway", "rest-proxy", "infra", "supergraph", "scripts"];

/** Copies the platform's source into a temporary folder, so that a test can save files as a developer does. */
export function cloneRepository(): string {
  const clone = realpathSync(mkdtempSync(join(tmpdir(), "tributary-clone-")));
  chmodSync(clone, 0o755); // PostgreSQL runs under another account if the test runs as root.
  const filter = (path: string) => basename(path) !== "node_modules";
  for (const folder of folders) cpSync(join(repository, folder), join(clone, folder), { recursive: true, filter });
  for (const file of ["package.json", "package-lock.json"]) cpSync(join(repository, file), join(clone, file));
  symlinkSync(join(repository, "node_modules"), join(clone, "node_modules"));
  // What the clone has in full. The tests of the services need the type of Vitest's `inject`, which the global setup declares.
  const include = ["services", join(repository, "kit/src/testing/postgres-global-setup.ts")];
  const config = { extends: join(repository, "tsconfig.json"), include };
  writeFileSync(join(clone, "tsconfig.json"), JSON.stringify(config));
  return clone;
}

export function removeClone(clone: string): void {
  removeLocalPostgres(join(clone, ".data/postgres"));
  // The type check of a stopped `npm start` may still write its last file.
  rmSync(clone, { recursive: true, maxRetries: 10 });
}
