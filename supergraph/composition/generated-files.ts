import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CompositionError } from "./composition-errors.ts";

/** A committed file that a command generates; `path` is relative to the repository's root. */
export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}

/** A generator's result: all files with warnings, or all errors. */
export type Generation =
  | {
      readonly ok: true;
      readonly files: readonly GeneratedFile[];
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly CompositionError[] };

export interface GenerationOptions {
  /** Leave out services that have no schema.graphql or no src/rest/routes.ts yet, instead of failing. */
  readonly partial: boolean;
}

/** The generated files that differ from those on disk. */
export function findStale(root: string, files: readonly GeneratedFile[]): GeneratedFile[] {
  return files.filter(({ path, content }) => {
    const onDisk = join(root, path);
    return !existsSync(onDisk) || readFileSync(onDisk, "utf8") !== content;
  });
}

/** Writes the files that differ and returns them. An unchanged file keeps its mtime, so that watchers see no change. */
export function writeGenerated(root: string, files: readonly GeneratedFile[]): GeneratedFile[] {
  const stale = findStale(root, files);
  for (const { path, content } of stale) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    // A gateway may watch the file: an atomic rename never shows it a partly written one.
    const temporary = `${target}.${process.pid}.tmp`;
    writeFileSync(temporary, content);
    renameSync(temporary, target);
  }
  return stale;
}
