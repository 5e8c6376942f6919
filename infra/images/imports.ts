// Searched with regular expressions, because no parser is installed in the stage of the image build that runs this.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Not `import type`, which Node removes. `import { type X } from "x"` counts: Node removes only the name, and loads the module. */
const importPattern = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
const workerFilePattern = /new URL\("([^"]+\.ts)", import\.meta\.url\)/g;
const kitModulePattern = /^@tributary\/kit\/(.+)$/;

/** By package name: the importing folders, since npm may install another version of a package for one workspace. */
export type PackageImports = ReadonlyMap<string, ReadonlySet<string>>;

/** @param main relative to `root`. @throws Error if an imported file of the repository does not exist. */
export function findPackageImports(root: string, main: string): PackageImports {
  const foldersByPackage = new Map<string, Set<string>>();
  const visitedFiles = new Set<string>();

  function addImport(packageName: string, folder: string): void {
    const folders = foldersByPackage.get(packageName) ?? new Set<string>();
    folders.add(folder);
    foldersByPackage.set(packageName, folders);
  }

  function visit(file: string): void {
    if (visitedFiles.has(file)) return;
    visitedFiles.add(file);
    const source = readFileSync(file, "utf8");
    const resolve = (path: string) => fileURLToPath(new URL(path, pathToFileURL(file)));
    for (const [, staticSpecifier, dynamicSpecifier] of source.matchAll(importPattern)) {
      const specifier = staticSpecifier ?? dynamicSpecifier ?? "";
      const kitModule = kitModulePattern.exec(specifier)?.[1];
      if (kitModule !== undefined) visit(join(root, "kit/src", `${kitModule}.ts`));
      else if (specifier.startsWith(".")) visit(resolve(specifier));
      else if (!specifier.startsWith("node:")) addImport(toPackageName(specifier), relative(root, dirname(file)));
    }
    for (const [, workerFile = ""] of source.matchAll(workerFilePattern)) visit(resolve(workerFile));
  }

  visit(join(root, main));
  return foldersByPackage;
}

/** `@apollo/server/express4` → `@apollo/server`, `zod/v4` → `zod`. */
function toPackageName(specifier: string): string {
  const segmentCount = specifier.startsWith("@") ? 2 : 1;
  return specifier.split("/", segmentCount).join("/");
}
