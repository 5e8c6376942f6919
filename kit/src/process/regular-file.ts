import { readFileSync, type Stats, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";

/** Follows symbolic links. @throws Error also for a FIFO or a device, whose read may never end. */
export async function readRegularFile(path: string): Promise<string> {
  requireRegularFile(path, await stat(path));
  return readFile(path, "utf8");
}

/** @throws Error as `readRegularFile`. */
export function readRegularFileSync(path: string): string {
  requireRegularFile(path, statSync(path));
  return readFileSync(path, "utf8");
}

export function requireRegularFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
}
