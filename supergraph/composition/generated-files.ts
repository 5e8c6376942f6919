import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CompositionError } from "./composition-errors.ts";

export interface GeneratedFile {
  readonly path: string;
  /** Undefined for a file of a service that no longer exists. */
  readonly content: string | undefined;
}

export type GeneratorResult =
  | { readonly ok: true; readonly files: readonly GeneratedFile[]; readonly warnings: readonly string[] }
  /** `files` are those of the parts without errors. */
  | { readonly ok: false; readonly errors: readonly CompositionError[]; readonly files?: readonly GeneratedFile[] };

export function combineResults(results: readonly GeneratorResult[]): GeneratorResult {
  const errors = results.flatMap((result) => (result.ok ? [] : result.errors));
  const files = results.flatMap((result) => result.files ?? []);
  if (errors.length > 0) return { ok: false, errors, files };
  return { ok: true, files, warnings: results.flatMap((result) => (result.ok ? result.warnings : [])) };
}

export function findStaleFiles(root: string, files: readonly GeneratedFile[]): GeneratedFile[] {
  return files.filter(({ path, content }) => {
    const file = join(root, path);
    const contentOnDisk = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    return contentOnDisk !== content;
  });
}

/** Other files are not touched, so that programs that watch them see no change. */
export function writeStaleFiles(root: string, files: readonly GeneratedFile[]): GeneratedFile[] {
  const stale = findStaleFiles(root, files);
  for (const { path, content } of stale) {
    const target = join(root, path);
    if (content === undefined) {
      rmSync(target);
      continue;
    }
    mkdirSync(dirname(target), { recursive: true });
    // A running gateway may watch supergraph.graphql (SUPERGRAPH_FILE): with a rename it never reads a partly written file.
    const temporary = `${target}.${process.pid}.tmp`;
    writeFileSync(temporary, content);
    renameSync(temporary, target);
  }
  return stale;
}
