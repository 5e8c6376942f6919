import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `from "x"`, `import "x"` and `import("x")`; a statement that begins with `import type` or `export type` leaves nothing at run time. */
const importPattern = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
/** A worker thread's file. */
const filePattern = /new URL\("([^"]+\.ts)", import\.meta\.url\)/g;

/** By package, the folders from which files of ours import it, below the root: two of them may find two versions. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The packages that a process loads: those that its main file imports, and whatever files of ours it imports.
 * @throws Error when a file of ours that is imported is not there.
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

/** `@apollo/server/express4` is of `@apollo/server`, `zod/v4` of `zod`. */
function toPackage(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
