import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** `from "x"`, `import "x"` and `import("x")`; a statement that begins with `import type` or `export type` leaves nothing at run time. */
const importPattern = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
/** A worker thread's file. */
const filePattern = /new URL\("([^"]+\.ts)", import\.meta\.url\)/g;

/**
 * The packages that a process loads: those that its main file imports, and whatever files of ours it imports.
 * @throws Error when a file of ours that is imported is not there.
 */
export function findImports(root: string, main: string): ReadonlySet<string> {
  const packages = new Set<string>();
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
      else if (!specifier.startsWith("node:")) packages.add(toPackage(specifier));
    }
    for (const path of files.map((url) => fileURLToPath(url))) if (existsSync(path)) visit(path);
  };
  visit(join(root, main));
  return packages;
}

/** `@apollo/server/express4` is of `@apollo/server`, `zod/v4` of `zod`. */
function toPackage(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
