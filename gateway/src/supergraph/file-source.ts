import { type FSWatcher, watch } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { SupergraphSource } from "./supergraph-source.ts";

const fileBytesMax = 50_000_000;

/**
 * A supergraph in a file. The folder is watched, not the file: so a file that is replaced by rename, and a symlink that is pointed
 * elsewhere (Kubernetes does so with `..data`), are seen too. Polling finds what watching misses, such as mounts.
 */
export function createFileSource(path: string): SupergraphSource {
  return {
    name: path,
    async read() {
      const { size } = await stat(path);
      if (size > fileBytesMax) throw new Error(`${path} has ${size} bytes, more than ${fileBytesMax}`);
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
      if (name === null || names.has(name)) onHint();
    });
    // A folder that goes away ends the watching; the poll goes on.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
