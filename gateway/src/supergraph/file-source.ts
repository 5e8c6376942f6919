import { type FSWatcher, watch } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { requireRegularFile } from "@tributary/kit/process/regular-file";
import type { TextSource } from "./text-source.ts";

const fileBytesMax = 50_000_000;

/**
 * Watches the folder instead of the file, so that a replaced file or symlink is noticed too (Kubernetes replaces the symlink `..data`). On file
 * systems without events, such as network mounts, only polling notices a change.
 */
export function createFileSource(path: string): TextSource {
  return {
    name: path,
    async read() {
      const stats = await stat(path);
      requireRegularFile(path, stats);
      if (stats.size > fileBytesMax) throw new Error(`${path} has ${stats.size} bytes, more than ${fileBytesMax}`);
      const text = await readFile(path, "utf8");
      if (text.trim() === "") throw new Error(`${path} is empty`);
      return text;
    },
    watch(onHint) {
      const watcher = watchFolder(path, onHint);
      return () => watcher?.close();
    },
  };
}

function watchFolder(path: string, onHint: () => void): FSWatcher | undefined {
  try {
    const names = new Set([basename(path), "..data"]);
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      // Null if the operating system does not name the file.
      if (name === null || names.has(name)) onHint();
    });
    // For example, the folder was removed (Windows). From now on the file is only polled.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
