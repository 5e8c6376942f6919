import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportFact, SourceModule } from "./source-module.ts";
import { readSourceModule } from "./source-module.ts";

/** The parsed sources of a repository, and the manifests beside them, by path from the root. */
export interface House {
  readonly modules: readonly SourceModule[];
  readonly manifests: ReadonlyMap<string, unknown>;
}

/** A place where a rule is broken. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  /** What is there: "imports ../store.ts". */
  readonly found: string;
}

/** One sentence of ARCHITECTURE.md, and how to see that it does not hold. */
export interface Rule {
  readonly name: string;
  readonly sentence: string;
  find(house: House): readonly Violation[];
}

const roots = ["kit", "services", "gateway", "rest-proxy", "infra", "supergraph", "scripts", "test", "bench"];
const skipped = new Set(["node_modules", "public", "dist", "coverage", "graphiql"]);

/** Reads the sources below `root`. Generated types are no style of ours and are left out. */
export function readHouse(root: string): House {
  const paths = roots.flatMap((folder) => listFiles(root, folder));
  return createHouse(Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")])));
}

/** A house from texts by path: .ts and .mjs files are modules, package.json files are manifests. */
export function createHouse(files: Readonly<Record<string, string>>): House {
  const entries = Object.entries(files);
  const sources = entries.filter(([path]) => /\.(?:ts|mjs)$/.test(path));
  const manifests = entries.filter(([path]) => path.endsWith("package.json"));
  return {
    modules: sources.map(([path, text]) => readSourceModule(path, text)),
    manifests: new Map(manifests.map(([path, text]) => [path, JSON.parse(text)])),
  };
}

/** The package that a path belongs to: "kit", "services/users", "infra/issuer"; else its top folder. */
export function packageOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  return top === "services" || top === "infra" ? `${top}/${second}` : top;
}

/** Tests, and what only tests use. */
export function isTestCode(path: string): boolean {
  return path.endsWith(".test.ts") || /(?:^|\/)(?:test|testing)\//.test(path);
}

/** What runs in production of a package. */
export function isProductCode(path: string): boolean {
  return /^(?:kit|gateway|rest-proxy|services\/[^/]+|infra\/[^/]+)\/src\//.test(path) && !isTestCode(path);
}

/** Violations for each import that a predicate refuses. */
export function refuseImports(
  modules: readonly SourceModule[],
  refuses: (fact: ImportFact, module: SourceModule) => boolean,
): Violation[] {
  return modules.flatMap((module) =>
    module.imports
      .filter((fact) => refuses(fact, module))
      .map(({ specifier, line }) => ({ path: module.path, line, found: `imports ${specifier}` })),
  );
}

function listFiles(root: string, folder: string): string[] {
  return readdirOrNothing(join(root, folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : listFiles(root, path);
    const wanted = /\.(?:ts|mjs)$/.test(entry.name) ? entry.name !== "schema-types.ts" : entry.name === "package.json";
    return wanted ? [path] : [];
  });
}

function readdirOrNothing(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
