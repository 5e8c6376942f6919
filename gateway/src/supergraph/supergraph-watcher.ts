// Polls the source of the supergraph, and gives each new text to the generations (generations.ts). Started once, by server.ts.
import type { GatewayObserver } from "../observations.ts";
import type { SupergraphSource } from "./supergraph-source.ts";

export interface SupergraphWatcherOptions {
  readonly source: SupergraphSource;
  readonly pollMs: number;
  /** The longest interval between reads until the first supergraph is read. Default: one second. */
  readonly firstPollMsMax?: number;
  readonly observe: GatewayObserver;
  /** Gets every text that differs from the previous text; the next read waits for it. Handles its own failures: a failed text is not retried. */
  readonly onSupergraph: (supergraphSdl: string) => Promise<void>;
}

/** The source is read when it has sent no hint for this time: until then the file may still be written. */
const hintQuietMs = 50;
/** The source is read at the latest this long after the first hint, even if hints continue. */
const hintWaitMsMax = 500;

const firstPollMsMaxDefault = 1_000;

/** Reads the source now, at every interval and after hints; never twice at once. Returns a function that stops it. */
export function watchSupergraph(o: SupergraphWatcherOptions): () => void {
  const { source, observe } = o;
  const stopped = new AbortController();
  let lastText: string | undefined;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  let isHintedDuringRead = false;
  /** The latest time of the next read. Infinite while there is no hint. */
  let readBeforeMs = Infinity;

  async function read(): Promise<void> {
    try {
      const text = await source.read(stopped.signal);
      hasFailed = false;
      if (text === undefined || text === lastText) return;
      lastText = text;
      await o.onSupergraph(text);
    } catch (cause) {
      if (stopped.signal.aborted) return;
      if (hasFailed) observe({ kind: "supergraph-still-unavailable", source: source.name });
      else observe({ kind: "supergraph-unavailable", source: source.name, cause });
      hasFailed = true;
    }
  }

  /** Reads once and sets the timer for the next read. */
  async function poll(): Promise<void> {
    isReading = true;
    isHintedDuringRead = false;
    readBeforeMs = Infinity;
    clearTimeout(timer);
    await read();
    isReading = false;
    if (stopped.signal.aborted) return;
    const hasText = lastText !== undefined;
    const pollMs = hasText ? o.pollMs : Math.min(o.pollMs, o.firstPollMsMax ?? firstPollMsMaxDefault);
    timer = setTimeout(() => void poll(), isHintedDuringRead ? hintQuietMs : pollMs);
  }

  const unwatch = source.watch?.(() => {
    if (isReading) {
      isHintedDuringRead = true;
      return;
    }
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
