import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ValueOrErrors } from "./composition-errors.ts";

export interface GeneratedFile {
  readonly path: string;
  /** Undefined for a file of a service that no longer exists. */
  readonly content: string | undefined;
}

export type GeneratorResult = ValueOrErrors<{
  readonly files: readonly GeneratedFile[];
  readonly warnings: readonly string[];
}>;

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
