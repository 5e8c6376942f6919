import { relative } from "node:path";
import { createReactor, type ReactorOptions } from "./reactor.ts";
import { watchFolders } from "./watch.ts";

export interface TeamLoopOptions extends ReactorOptions {
  readonly folders: readonly string[];
  /** Saves within so short a time are one: editors and checkouts save several files at once. */
  readonly debounceMs: number;
}

export interface TeamLoop {
  /** Waits for what is under way. */
  close(): Promise<void>;
}

/** Watches the teams' files: what is saved is running a moment later, and what cannot run does not replace what does. */
export function startTeamLoop(options: TeamLoopOptions): TeamLoop {
  const { root, folders, say } = options;
  const react = createReactor(options);
  const saved = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let isClosed = false;

  // One after another: what is saved meanwhile waits, and is taken together.
  function schedule(): void {
    clearTimeout(timer);
    if (!isClosed && working === undefined) timer = setTimeout(begin, options.debounceMs);
  }

  function begin(): void {
    working = work();
  }

  async function work(): Promise<void> {
    const batch = [...saved];
    saved.clear();
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
  begin(); // The committed supergraph may be older than the schemas that the services have just started with.
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      watcher.close();
      await working;
    },
  };
}
