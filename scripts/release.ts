// npm run release: turns the changesets into the next version, without a commit. The workflow release.yml runs it and opens the pull request.
import { execFileSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addRelease, parseChangeset } from "./release/changelog.ts";

if (process.argv.length > 2) {
  console.error("Usage: npm run release. It has no options, and changes the files of the repository.");
  process.exit(2);
}
const root = fileURLToPath(new URL("..", import.meta.url));
const paths = globSync(".changeset/*.md", { cwd: root }).filter((path) => !path.endsWith("README.md"));
if (paths.length === 0) {
  console.error("There is no changeset, so there is nothing to release. `npm run changeset` adds one.");
  process.exit(1);
}
// Parses all changesets before any file changes: an invalid one throws here.
const changesets = paths.toSorted().map((path) => parseChangeset(read(path), path));

// Sets the version of all packages, and deletes the changesets.
const changesetsProgram = fileURLToPath(import.meta.resolve("@changesets/cli/bin.js"));
execFileSync(process.execPath, [changesetsProgram, "version"], { cwd: root, stdio: "inherit" });
// All packages have the version of the kit.
const { version } = JSON.parse(read("kit/package.json")) as { readonly version: string };
const day = new Date().toISOString().slice(0, 10);
write("CHANGELOG.md", addRelease(read("CHANGELOG.md"), { version, day, changesets }));
// The root is no workspace, so changesets does not change its version.
const rootManifest = read("package.json").replace(/("version": )"[^"]*"/, `$1"${version}"`);
write("package.json", rootManifest);
// Updates the versions of the workspaces in the lock file, because `npm ci` compares them. Downloads no package.
execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts", "--offline"], {
  cwd: root,
  stdio: "inherit",
});
// The next changes are compared with what this release publishes.
for (const name of ["api.graphql", "supergraph.graphql", "routes.json", "openapi"])
  cpSync(join(root, "supergraph", name), join(root, "supergraph/released", name), { recursive: true });
rmSync(join(root, "supergraph/released/openapi/changes.json"), { force: true });
execFileSync(process.execPath, [join(root, "scripts/generate.ts")], { cwd: root, stdio: "inherit" });
console.log(`Version ${version}: review CHANGELOG.md.`);

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function write(path: string, text: string): void {
  writeFileSync(join(root, path), text);
}
