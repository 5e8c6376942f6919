import { existsSync, readdirSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { platformTeam, subgraphs } from "../supergraph/subgraphs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const lines = readFileSync(`${root}.github/CODEOWNERS`, "utf8").split("\n");
const entries = lines
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(/\s+/))
  .map(([pattern = "", ...owners]) => ({ pattern, owners }));
/** Folders that are never committed. */
const uncommitted = new Set([".git", ".data", "node_modules", "coverage"]);

test("every top-level folder has an explicit owner", () => {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !uncommitted.has(entry.name) && entry.name !== "services")
    .map(({ name }) => name);
  expect(folders).toEqual(expect.arrayContaining(["kit", "gateway", "rest-proxy", "supergraph", "infra", "scripts"]));
  expect(folders.filter((folder) => !ownersOf(`${folder}/any`).explicit)).toEqual([]);
});

test("the platform team owns the shared folders and all files without an explicit owner", () => {
  for (const folder of ["kit", "gateway", "rest-proxy", "supergraph", "infra", "scripts"]) {
    expect(ownersOf(`${folder}/src/any.ts`).owners).toEqual([platformTeam]);
  }
  expect(ownersOf("package.json")).toEqual({ owners: [platformTeam], explicit: false });
});

test.each(readdirSync(`${root}services`))("the team that the supergraph names for %s owns its folder", (name) => {
  const owner = subgraphs.find(({ folder }) => folder === `services/${name}`)?.owner;
  expect(owner).toBe(`@tributary/${name}-team`);
  expect(ownersOf(`services/${name}/src/store.ts`).owners).toEqual([owner]);
});

test.each(readdirSync(`${root}services`))("the schema of %s needs its team and the platform team", (name) => {
  const owners = [`@tributary/${name}-team`, platformTeam];
  expect(ownersOf(`services/${name}/schema.graphql`)).toEqual({ owners, explicit: true });
});

test("every line matches an existing path", () => {
  const missing = entries.filter(({ pattern }) => pattern !== "*" && !existsSync(`${root}${pattern.slice(1)}`));
  expect(missing.map(({ pattern }) => pattern)).toEqual([]);
});

/** The owners of a path. The last matching line wins, as on GitHub; `explicit` is false if that line is "*". */
function ownersOf(path: string): { readonly owners: readonly string[]; readonly explicit: boolean } {
  const match = entries.findLast(({ pattern }) => {
    if (pattern === "*") return true;
    const anchored = pattern.slice(1);
    return matchesGlob(path, anchored.endsWith("/") ? `${anchored}**` : anchored);
  });
  return { owners: match?.owners ?? [], explicit: match !== undefined && match.pattern !== "*" };
}
