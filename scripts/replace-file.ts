import { renameSync, writeFileSync, type WriteFileOptions } from "node:fs";

/** Writes atomically: a reader sees the old or the new content. */
export function replaceFile(file: string, content: string | Buffer, options?: WriteFileOptions): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, content, options);
  renameSync(temporary, file);
}
