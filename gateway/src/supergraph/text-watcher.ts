// Watches the text of a supergraph, or of gateway.yaml.
import type { SupergraphSource } from "./supergraph-source.ts";

export interface TextWatcherOptions {
  readonly source: SupergraphSource;
  readonly pollMs: number;
  /** Until the first text is read. */
  readonly firstPollMsMax?: number;
  /** Between two attempts to load the same text. */
  readonly retryMsMin?: number;
  /** @param isRepeated since the last text that could be read. */
  readonly onUnreadable: (cause: unknown, isRepeated: boolean) => void;
  /** Gets each new text, and the same one again while it returns "retry". The next read waits for it. Never rejects. */
  readonly onText: (text: string) => Promise<"done" | "retry">;
}

/** The source is read when it has sent no hint for this time: until then the file may still be written. */
const hintQuietMs = 50;
/** The source is read at the latest this long after the first hint, even if hints continue. */
const hintWaitMsMax = 500;

const firstPollMsMaxDefault = 1_000;

/** The interval doubles with each failed attempt up to this factor, because an attempt may take seconds of CPU time. */
const retryFactorMax = 4;

/** Reads now, at every interval and after hints; never twice at once. Returns a function that stops it. */
export function watchText(o: TextWatcherOptions): () => void {
  const { source, retryMsMin = 2_000 } = o;
  const stopped = new AbortController();
  let lastText: string | undefined;
  /** Until the last text is loaded or rejected. */
  let pendingText: string | undefined;
  let failedLoads = 0;
  let retryAtMs = 0;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let isReading = false;
  let isHintedDuringRead = false;
  let readBeforeMs = Infinity;

  async function read(): Promise<void> {
    try {
      const text = await source.read(stopped.signal);
      hasFailed = false;
      if (text === undefined || text === lastText) return;
      lastText = text;
      pendingText = text;
      failedLoads = 0;
      retryAtMs = 0;
    } catch (cause) {
      if (stopped.signal.aborted) return;
      o.onUnreadable(cause, hasFailed);
      hasFailed = true;
    }
  }

  async function loadPending(): Promise<void> {
    if (pendingText === undefined || performance.now() < retryAtMs) return;
    const outcome = await o.onText(pendingText);
    if (outcome === "done") pendingText = undefined;
    else retryAtMs = performance.now() + retryMsMin * Math.min(2 ** failedLoads++, retryFactorMax);
  }

  function chooseDelayMs(): number {
    if (isHintedDuringRead) return hintQuietMs;
    if (pendingText !== undefined) return Math.min(o.pollMs, Math.max(0, retryAtMs - performance.now()));
    return lastText === undefined ? Math.min(o.pollMs, o.firstPollMsMax ?? firstPollMsMaxDefault) : o.pollMs;
  }

  async function poll(): Promise<void> {
    isReading = true;
    isHintedDuringRead = false;
    readBeforeMs = Infinity;
    clearTimeout(timer);
    await read();
    if (!stopped.signal.aborted) await loadPending();
    isReading = false;
    if (!stopped.signal.aborted) timer = setTimeout(() => void poll(), chooseDelayMs());
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
