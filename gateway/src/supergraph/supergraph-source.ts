import type { GatewayObserver } from "../observations.ts";

/** A place where the supergraph is found. */
export interface SupergraphSource {
  /** For the log: the file or the address without its search part. */
  readonly name: string;
  /** The text as it is now; undefined when it is the same as last time. */
  read(signal: AbortSignal): Promise<string | undefined>;
  /** Calls back when a look seems worth while before the next poll. Returns what ends it. */
  watch?(onHint: () => void): () => void;
}

export interface WatcherOptions {
  readonly source: SupergraphSource;
  readonly pollMs: number;
  /** Until the first supergraph is there we look at least this often. */
  readonly firstPollMsMax?: number;
  readonly observe: GatewayObserver;
  /** Gets every text that differs from the one before. Failures are its own business. */
  readonly onSupergraph: (supergraphSdl: string) => Promise<void>;
}

/** A file that is being written is looked at after this rest, */
const hintRestMs = 50;
/** but one that is never left alone is looked at all the same. */
const hintWaitMsMax = 500;

/** Looks at the source now, at every interval and on hints, one look at a time. Returns what ends it. */
export function watchSupergraph(o: WatcherOptions): () => void {
  const { source, observe } = o;
  const ended = new AbortController();
  let last: string | undefined;
  let troubled = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let hinted = false;
  let lookBeforeMs = Infinity;

  async function look(): Promise<void> {
    try {
      const text = await source.read(ended.signal);
      troubled = false;
      if (text === undefined || text === last) return;
      last = text;
      await o.onSupergraph(text);
    } catch (cause) {
      if (ended.signal.aborted) return;
      if (troubled) observe({ kind: "supergraph-still-unavailable", source: source.name });
      else observe({ kind: "supergraph-unavailable", source: source.name, cause });
      troubled = true;
    }
  }

  async function lookAndRest(): Promise<void> {
    if (looking) return void (hinted = true);
    looking = true;
    hinted = false;
    lookBeforeMs = Infinity;
    clearTimeout(timer);
    await look();
    looking = false;
    if (ended.signal.aborted) return;
    const pollMs = last === undefined ? Math.min(o.pollMs, o.firstPollMsMax ?? 1_000) : o.pollMs;
    timer = setTimeout(() => void lookAndRest(), hinted ? hintRestMs : pollMs);
  }

  const unwatch = source.watch?.(() => {
    if (looking) return void (hinted = true);
    clearTimeout(timer);
    const nowMs = performance.now();
    lookBeforeMs = Math.min(lookBeforeMs, nowMs + hintWaitMsMax);
    timer = setTimeout(() => void lookAndRest(), Math.min(hintRestMs, lookBeforeMs - nowMs));
  });
  void lookAndRest();
  return () => {
    ended.abort();
    clearTimeout(timer);
    unwatch?.();
  };
}
