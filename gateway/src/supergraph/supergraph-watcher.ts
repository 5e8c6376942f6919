import type { GatewayObserver } from "../observations.ts";

/** Where the supergraph is read from: a file or a URL. */
export interface SupergraphSource {
  /** For the log: the path, or the URL without its query string. */
  readonly name: string;
  /** The current text; undefined if it is known to be unchanged. */
  read(signal: AbortSignal): Promise<string | undefined>;
  /** Calls `onHint` when the text may have changed. Returns a function that stops watching. */
  watch?(onHint: () => void): () => void;
}

export interface WatcherOptions {
  readonly source: SupergraphSource;
  readonly pollMs: number;
  /** The longest interval until the first supergraph is read. */
  readonly firstPollMsMax?: number;
  readonly observe: GatewayObserver;
  /** Gets every text that differs from the previous one. Handles its own failures. */
  readonly onSupergraph: (supergraphSdl: string) => Promise<void>;
}

/** The source is read when there was no hint for this time, since a file may still be written, */
const hintQuietMs = 50;
/** and at the latest after this time, even if hints continue. */
const hintWaitMsMax = 500;

/** Reads the source now, at every interval and after hints; never twice at once. Returns a function that stops it. */
export function watchSupergraph(o: WatcherOptions): () => void {
  const { source, observe } = o;
  const stopped = new AbortController();
  let last: string | undefined;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  let isHinted = false;
  let readBeforeMs = Infinity;

  async function read(): Promise<void> {
    try {
      const text = await source.read(stopped.signal);
      hasFailed = false;
      if (text === undefined || text === last) return;
      last = text;
      await o.onSupergraph(text);
    } catch (cause) {
      if (stopped.signal.aborted) return;
      if (hasFailed) observe({ kind: "supergraph-still-unavailable", source: source.name });
      else observe({ kind: "supergraph-unavailable", source: source.name, cause });
      hasFailed = true;
    }
  }

  async function poll(): Promise<void> {
    if (isReading) return void (isHinted = true);
    isReading = true;
    isHinted = false;
    readBeforeMs = Infinity;
    clearTimeout(timer);
    await read();
    isReading = false;
    if (stopped.signal.aborted) return;
    const pollMs = last === undefined ? Math.min(o.pollMs, o.firstPollMsMax ?? 1_000) : o.pollMs;
    timer = setTimeout(() => void poll(), isHinted ? hintQuietMs : pollMs);
  }

  const unwatch = source.watch?.(() => {
    if (isReading) return void (isHinted = true);
    clearTimeout(timer);
    const nowMs = performance.now();
    readBeforeMs = Math.min(readBeforeMs, nowMs + hintWaitMsMax);
    timer = setTimeout(() => void poll(), Math.min(hintQuietMs, readBeforeMs - nowMs));
  });
  void poll();
  return () => {
    stopped.abort();
    clearTimeout(timer);
    unwatch?.();
  };
}
