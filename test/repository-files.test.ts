// The files of the repository that no program reads: its documentation and CODEOWNERS.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readServices } from "../supergraph/services.ts";
import { platformTeam } from "../supergraph/subgraphs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = [
  ...globSync(["docs/**/*.md", "examples/*/README.md"], { cwd: root }),
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
].toSorted();

test("every link of the documentation leads to an existing file and heading", () => {
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});

const lines = readFileSync(join(root, ".github/CODEOWNERS"), "utf8").split("\n");
const entries = lines
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(/\s+/))
  .map(([pattern = "", ...owners]) => ({ pattern, owners }));
/** Folders that are never committed. */
const uncommitted = new Set([".git", ".data", "node_modules", "coverage", "dist"]);

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

test("each service's folder belongs to its team, and its schema needs the platform team, too", () => {
  for (const { name, owner } of readServices(root)) {
    expect(ownersOf(`services/${name}/src/store.ts`).owners).toEqual([owner]);
    const owners = [owner, platformTeam];
    expect(ownersOf(`services/${name}/schema.graphql`)).toEqual({ owners, explicit: true });
  }
});

test("every line matches an existing path", () => {
  const missing = entries.filter(({ pattern }) => pattern !== "*" && !existsSync(join(root, pattern.slice(1))));
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

function brokenLinks(page: string): readonly string[] {
  const links = [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => !/^https?:/.test(link) && !isValid(page, link)).map((link) => `${page}: ${link}`);
}

function isValid(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return false;
  return heading === undefined || headingsOf(readFileSync(file, "utf8")).includes(heading);
}

/** The anchors of a page's headings, as GitHub generates them: lower case, hyphens for spaces, no punctuation. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}
