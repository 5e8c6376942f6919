// Watches the source files for dev-loop.ts.
import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { basename, extname, join } from "node:path";

export interface Watcher {
  close(): void;
}

const watchedExtensions = new Set([".ts", ".js", ".mjs", ".json", ".graphql", ".sql", ".html", ".css"]);
/** Further folders are not watched. */
const foldersMax = 2_000;

/**
 * Calls `onSaved` with the path of every source file that is saved or deleted in these folders, including new subfolders; tests and temporary
 * files of editors are ignored. Watches folders, not files, because editors save by renaming a new file over the old one, and a save can cause
 * several calls: dev-loop.ts combines them.
 */
export function watchFolders(folders: readonly string[], onSaved: (path: string) => void): Watcher {
  const watchers = new Map<string, FSWatcher>();

  function add(folder: string): void {
    if (watchers.has(folder) || watchers.size >= foldersMax || !isFolder(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      // Linux reports the deletion of the watched folder by an event with its own name.
      if (name === basename(folder) && !isFolder(join(folder, name))) onReplaced(folder);
      else if (name !== null) onEvent(join(folder, name));
    });
    watcher.on("error", () => drop(folder));
    watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && isWatchedFolder(entry.name)) add(join(folder, entry.name));
  }

  function onEvent(path: string): void {
    if (isFolder(path) && isWatchedFolder(basename(path))) {
      add(path);
      for (const name of readdirSync(path)) onEvent(join(path, name)); // Files that were saved before the watcher was added.
    } else if (isSource(path)) onSaved(path);
  }

  /** The folder was deleted or moved. Another one may already have its path. */
  function onReplaced(folder: string): void {
    drop(folder);
    onEvent(folder);
  }

  function drop(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  for (const folder of folders) add(folder);
  return {
    close() {
      for (const folder of [...watchers.keys()]) drop(folder);
    },
  };
}

function isWatchedFolder(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules";
}

function isSource(path: string): boolean {
  const name = basename(path);
  return watchedExtensions.has(extname(name)) && !/^[.#]|\.test\.ts$/.test(name);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
