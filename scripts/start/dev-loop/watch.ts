import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { basename, extname, join } from "node:path";

const watchedExtensions = new Set([
  ".ts",
  ".js",
  ".mjs",
  ".json",
  ".graphql",
  ".sql",
  ".html",
  ".css",
  ".yaml",
  ".yml",
]);
/** Temporary files of editors begin with a dot or `#`; tests end with `.test.ts`. */
const ignoredNames = /^[.#]|\.test\.ts$/;
const foldersMax = 2_000;

/** Watches folders, not files, because editors save by renaming a new file over the old one. A save can cause several calls. */
export function watchFolders(folders: readonly string[], onSaved: (path: string) => void): { close(): void } {
  const watchers = new Map<string, FSWatcher>();

  function addFolder(folder: string): void {
    if (watchers.has(folder) || watchers.size >= foldersMax || !isFolder(folder)) return;
    const watcher = watch(folder, (_event, name) => {
      // Linux reports the deletion of the watched folder by an event with its own name.
      if (name === basename(folder) && !isFolder(join(folder, name))) onDeleted(folder);
      else if (name !== null) onEvent(join(folder, name));
    });
    watcher.on("error", () => removeFolder(folder));
    watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && isWatchedFolder(entry.name)) addFolder(join(folder, entry.name));
    }
  }

  function onEvent(path: string): void {
    if (isFolder(path) && isWatchedFolder(basename(path))) {
      addFolder(path);
      for (const name of readdirSync(path)) onEvent(join(path, name)); // Files that were saved before the watcher was added.
    } else if (isSource(path)) onSaved(path);
  }

  /** The folder was deleted or moved. Another folder may already have its path. */
  function onDeleted(folder: string): void {
    removeFolder(folder);
    onEvent(folder);
  }

  function removeFolder(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  for (const folder of folders) addFolder(folder);
  return {
    close() {
      for (const folder of [...watchers.keys()]) removeFolder(folder);
    },
  };
}

function isWatchedFolder(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules";
}

function isSource(path: string): boolean {
  const name = basename(path);
  return watchedExtensions.has(extname(name)) && !ignoredNames.test(name);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
