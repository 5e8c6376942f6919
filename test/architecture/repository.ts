import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportFact, SourceModule } from "./source-module.ts";
import { readSourceModule } from "./source-module.ts";

/** The sources of a repository, parsed, with its manifests and the texts that people read. Paths start at the root. */
export interface Repository {
  readonly modules: readonly SourceModule[];
  readonly manifests: ReadonlyMap<string, unknown>;
  /** Every file that was read, as it is: comments and documents too. */
  readonly texts: ReadonlyMap<string, string>;
}

/** A line that breaks a rule. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  /** What the line does: "imports ../store.ts". */
  readonly found: string;
}

/** One sentence of ARCHITECTURE.md or STYLE, and the check that finds its violations. */
export interface Rule {
  readonly name: string;
  readonly sentence: string;
  find(repository: Repository): readonly Violation[];
}

const folders = "kit services gateway rest-proxy infra supergraph scripts test bench docs tools".split(" ");
const skippedFolders = new Set(["node_modules", "public", "dist", "coverage"]);
/** Files that people write and read. JSON other than manifests is data. */
const textFile = /\.(?:tsx?|mjs|js|css|md|ya?ml|sql|sh)$|^(?:package\.json|Dockerfile|schema\.graphql)$/;
/** Written by `npm run generate`. */
const generatedFile = "schema-types.ts";

/** Reads the sources, documents and configuration of the repository at `root`. */
export function readRepository(root: string): Repository {
  const topFiles = readFolder(root).filter((entry) => entry.isFile() && isTextFile(entry.name));
  const paths = [...topFiles.map(({ name }) => name), ...folders.flatMap((folder) => listFiles(root, folder))];
  return createRepository(Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")])));
}

/**
 * A repository from texts by path: .ts and .mjs files are modules, package.json files are manifests. The browser code of GraphiQL
 * has its own compiler settings and is text only.
 */
export function createRepository(files: Readonly<Record<string, string>>): Repository {
  const entries = Object.entries(files);
  const sources = entries.filter(([path]) => /\.(?:ts|mjs)$/.test(path) && !path.includes("/graphiql/"));
  const manifests = entries.filter(([path]) => path.endsWith("package.json"));
  return {
    texts: new Map(entries),
    modules: sources.map(([path, text]) => readSourceModule(path, text)),
    manifests: new Map(manifests.map(([path, text]) => [path, JSON.parse(text)])),
  };
}

/** The package that a path belongs to: "kit", "services/users", "infra/issuer"; else its top folder. */
export function packageOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  return top === "services" || top === "infra" ? `${top}/${second}` : top;
}

/** Tests and code that only tests import. */
export function isTestCode(path: string): boolean {
  return path.endsWith(".test.ts") || /(?:^|\/)(?:test|testing)\//.test(path);
}

/** Code that runs in production. */
export function isProductCode(path: string): boolean {
  return /^(?:kit|gateway|rest-proxy|services\/[^/]+|infra\/[^/]+)\/src\//.test(path) && !isTestCode(path);
}

/** A violation for each import that matches a predicate. */
export function findImports(
  modules: readonly SourceModule[],
  isViolation: (fact: ImportFact, module: SourceModule) => boolean,
): Violation[] {
  return modules.flatMap((module) =>
    module.imports
      .filter((fact) => isViolation(fact, module))
      .map(({ specifier, line }) => ({ path: module.path, line, found: `imports ${specifier}` })),
  );
}

function listFiles(root: string, folder: string): string[] {
  return readFolder(join(root, folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : listFiles(root, path);
    return isTextFile(entry.name) ? [path] : [];
  });
}

function isTextFile(name: string): boolean {
  return textFile.test(name) && name !== generatedFile;
}

function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
