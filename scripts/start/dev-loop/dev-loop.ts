// Collects saved files into batches: change-plan.ts decides what a batch requires, apply-changes.ts does it.
import { relative } from "node:path";
import { createChangeHandler, type ChangeHandlerOptions } from "./apply-changes.ts";
import { watchFolders } from "./watch.ts";

export interface DevLoopOptions extends ChangeHandlerOptions {
  /** After each batch of saved files. */
  onApplied(): void;
  readonly folders: readonly string[];
  /** Saves within this time are one batch: editors and checkouts save several files at once. */
  readonly debounceMs: number;
}

export interface DevLoop {
  /** Publishes the schemas and routes on disk; from then on saved files are applied. */
  start(): Promise<void>;
  /** Resolves when the current batch has been applied. */
  close(): Promise<void>;
}

/**
 * - `collecting` (before the start) and `applying` (a batch): saved files wait for the next batch.
 * - `waiting`: the next save starts the timer of a batch.
 */
type State = "collecting" | "applying" | "waiting" | "closed";

/** Create it before the parts start, so that no save during the start is missed. */
export function createDevLoop(options: DevLoopOptions): DevLoop {
  const { root, folders, print } = options;
  const applyChanges = createChangeHandler(options);
  const saved = new Set<string>();
  let state: State = "collecting";
  let timer: NodeJS.Timeout | undefined;
  let currentBatch = Promise.resolve();

  function schedule(): void {
    clearTimeout(timer);
    if (state === "waiting" && saved.size > 0) timer = setTimeout(startBatch, options.debounceMs);
  }

  function startBatch(): void {
    state = "applying";
    currentBatch = applyBatch([...saved]);
  }

  async function applyBatch(batch: readonly string[]): Promise<void> {
    for (const path of batch) saved.delete(path);
    try {
      await applyChanges(batch);
    } catch (error) {
      print("start", error instanceof Error ? error.message : String(error));
    }
    if (batch.length > 0) options.onApplied();
    if (state === "applying") state = "waiting";
    schedule();
  }

  const watcher = watchFolders(folders, (path) => {
    saved.add(relative(root, path));
    schedule();
  });
  return {
    async start() {
      state = "applying";
      // The first call of `applyChanges` composes whatever is on disk, also for an empty batch.
      currentBatch = applyBatch([]);
      await currentBatch;
    },
    async close() {
      state = "closed";
      clearTimeout(timer);
      watcher.close();
      await currentBatch;
    },
  };
}
