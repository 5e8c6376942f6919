import { relative } from "node:path";
import { createReactor, type ReactorOptions } from "./reactor.ts";
import { watchFolders } from "./watch.ts";

export interface TeamLoopOptions extends ReactorOptions {
  readonly folders: readonly string[];
  /** Saves within so short a time are one: editors and checkouts save several files at once. */
  readonly debounceMs: number;
}

export interface TeamLoop {
  /** From now on what is saved is acted on; what was saved since the loop was created, too. */
  begin(): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/**
 * Watches the teams' files: what is saved is running a moment later, and what cannot run does not replace what does.
 * Create it before the parts start, so that nothing that is saved meanwhile is missed.
 */
export function createTeamLoop(options: TeamLoopOptions): TeamLoop {
  const { root, folders, say } = options;
  const react = createReactor(options);
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let isActive = false;

  // One after another: what is saved meanwhile waits, and is taken together.
  function schedule(): void {
    clearTimeout(timer);
    if (isActive && working === undefined) timer = setTimeout(takeSaved, options.debounceMs);
  }

  function takeSaved(): void {
    const batch = [...saved];
    saved.clear();
    working = work(batch);
  }

  async function work(batch: readonly string[]): Promise<void> {
    try {
      await react(batch);
    } catch (error) {
      say("start", error instanceof Error ? error.message : String(error));
    }
    working = undefined;
    if (saved.size > 0) schedule();
  }

  const watcher = watchFolders(folders, (path) => {
    saved.add(relative(root, path));
    schedule();
  });
  return {
    begin() {
      isActive = true;
      working = work([]); // The committed supergraph may be older than the schemas that the services have started with.
    },
    async close() {
      isActive = false;
      clearTimeout(timer);
      watcher.close();
      await working;
    },
  };
}
