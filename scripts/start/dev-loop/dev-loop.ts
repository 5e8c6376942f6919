// The dev loop of `npm start`: collects saved files into batches. change-plan.ts decides what a batch requires, apply-changes.ts does it.
import { relative } from "node:path";
import { createChangeHandler, type ChangeHandlerOptions } from "./apply-changes.ts";
import { watchFolders } from "./watch.ts";

export interface DevLoopOptions extends ChangeHandlerOptions {
  readonly folders: readonly string[];
  /** Saves within this time are one batch: editors and checkouts save several files at once. */
  readonly debounceMs: number;
}

export interface DevLoop {
  /** Starts to apply saved files, first those that were saved since the loop was created. */
  start(): void;
  /** Stops watching. Resolves when the current batch has been applied. */
  close(): Promise<void>;
}

/**
 * The dev loop: watches the source files of all teams and applies what is saved. Code and schemas that do not load do not
 * replace the running ones. Create it before the parts start, so that no save during the start is missed.
 */
export function createDevLoop(options: DevLoopOptions): DevLoop {
  const { root, folders, print } = options;
  const applyChanges = createChangeHandler(options);
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let isActive = false;

  // Batches run one at a time. Files that are saved meanwhile form the next batch.
  function schedule(): void {
    clearTimeout(timer);
    if (isActive && working === undefined) timer = setTimeout(applySaved, options.debounceMs);
  }

  function applySaved(): void {
    const batch = [...saved];
    saved.clear();
    working = work(batch);
  }

  async function work(batch: readonly string[]): Promise<void> {
    try {
      await applyChanges(batch);
    } catch (error) {
      print("start", error instanceof Error ? error.message : String(error));
    }
    working = undefined;
    if (saved.size > 0) schedule();
  }

  const watcher = watchFolders(folders, (path) => {
    saved.add(relative(root, path));
    schedule();
  });
  return {
    start() {
      isActive = true;
      working = work([]); // The committed supergraph may be older than the schemas with which the services started.
    },
    async close() {
      isActive = false;
      clearTimeout(timer);
      watcher.close();
      await working;
    },
  };
}
