import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CompositionError } from "./composition-errors.ts";

/** A committed file that a command makes; `path` is from the repository's root. */
export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}

/** What a generator makes of a repository: all of its files and remarks in lines of text, or all that is wrong. */
export type Generation =
  | {
      readonly ok: true;
      readonly files: readonly GeneratedFile[];
      readonly remarks: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly CompositionError[] };

export interface GenerationOptions {
  /** Leave out services that have no schema.graphql or no src/rest/routes.ts yet, instead of failing. */
  readonly partial: boolean;
}

/** The files on disk that differ from what the command would write now. */
export function findStale(root: string, files: readonly GeneratedFile[]): GeneratedFile[] {
  return files.filter(({ path, content }) => {
    const onDisk = join(root, path);
    return !existsSync(onDisk) || readFileSync(onDisk, "utf8") !== content;
  });
}

/** Writes what differs and returns it. An unchanged file keeps its time, so that no watcher wakes for nothing. */
export function writeGenerated(root: string, files: readonly GeneratedFile[]): GeneratedFile[] {
  const stale = findStale(root, files);
  for (const { path, content } of stale) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    // A gateway may be watching: it must see the old file or the new one, never half of one.
    const aside = `${target}.${process.pid}.tmp`;
    writeFileSync(aside, content);
    renameSync(aside, target);
  }
  return stale;
}
