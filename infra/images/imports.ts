import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `from "x"`, `import "x"` and `import("x")`, but not `import type` and `export type`, which Node removes. */
const importPattern = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
/** The file of a worker thread. */
const filePattern = /new URL\("([^"]+\.ts)", import\.meta\.url\)/g;

/** For each package, the folders of the repository that import it; two folders may resolve to two versions. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Finds the packages that a process loads: the imports of its main file and of all repository files that it imports.
 * @throws Error if an imported file of the repository does not exist.
 */
export function findImports(root: string, main: string): Imports {
  const packages = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    const specifiers = [...text.matchAll(importPattern)].map(([, statement, dynamic]) => statement ?? dynamic ?? "");
    const files = [...text.matchAll(filePattern)].map(([, name]) => new URL(name ?? "", pathToFileURL(file)));
    for (const specifier of specifiers) {
      const kit = /^@tributary\/kit\/(.+)$/.exec(specifier)?.[1];
      if (kit !== undefined) visit(join(root, "kit/src", `${kit}.ts`));
      else if (specifier.startsWith(".")) visit(fileURLToPath(new URL(specifier, pathToFileURL(file))));
      else if (!specifier.startsWith("node:")) add(packages, toPackage(specifier), relative(root, dirname(file)));
    }
    for (const path of files.map((url) => fileURLToPath(url))) if (existsSync(path)) visit(path);
  };
  visit(join(root, main));
  return packages;
}

function add(packages: Map<string, Set<string>>, name: string, folder: string): void {
  packages.set(name, (packages.get(name) ?? new Set()).add(folder));
}

/** `@apollo/server/express4` → `@apollo/server`, `zod/v4` → `zod`. */
function toPackage(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
