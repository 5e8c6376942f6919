// Watches a text: the supergraph, gateway.yaml or the files that this names.
import type { TextSource } from "./text-source.ts";

export interface TextWatcherOptions {
  readonly source: TextSource;
  readonly pollMs: number;
  /** After a failed read, if `pollMs` is not shorter; twice as long after each further one, unless no text was read yet. */
  readonly rereadMsMin?: number;
  /** Between two attempts to load the same text. */
  readonly retryMsMin?: number;
  /** After a read that returns the text of the read before. */
  readonly onUnchanged?: () => void;
  /** The next read waits for it. Never rejects. @param isRepeated since the last text that could be read. */
  readonly onUnreadable: (cause: unknown, isRepeated: boolean) => void | Promise<void>;
  /** Gets each new text, and the same one again while it returns "retry". The next read waits for it. Never rejects. */
  readonly onText: (text: string) => Promise<"done" | "retry">;
}

/** The source is read when it has sent no hint for this time: until then the file may still be written. */
const hintQuietMs = 50;
/** The source is read at the latest this long after the first hint, even if hints continue. */
const hintWaitMsMax = 500;

/** Each interval is up to this part shorter or longer, so that processes which were started together do not poll together. */
const jitter = 0.1;

/** The interval doubles with each failed attempt up to this factor, because an attempt may take seconds of CPU time. */
const retryFactorMax = 4;

/** Reads now, at every interval and after hints; never twice at once. Returns a function that stops it. */
export function watchText(o: TextWatcherOptions): () => void {
  const { source, rereadMsMin = 1_000, retryMsMin = 2_000 } = o;
  const stopped = new AbortController();
  let lastText: string | undefined;
  /** Until the last text is loaded or rejected. */
  let pendingText: string | undefined;
  let failedLoads = 0;
  let retryAtMs = 0;
  let failedReads = 0;
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;
  let isHintedDuringPoll = false;
  let readBeforeMs = Infinity;

  async function read(): Promise<void> {
    try {
      const text = await source.read(stopped.signal);
      failedReads = 0;
      if (text === undefined || text === lastText) return o.onUnchanged?.();
      lastText = text;
      pendingText = text;
      failedLoads = 0;
      retryAtMs = 0;
    } catch (cause) {
      if (stopped.signal.aborted) return;
      await o.onUnreadable(cause, failedReads++ > 0);
    }
  }

  async function loadPending(): Promise<void> {
    if (pendingText === undefined || performance.now() < retryAtMs) return;
    const outcome = await o.onText(pendingText);
    if (outcome === "done") pendingText = undefined;
    else retryAtMs = performance.now() + retryMsMin * Math.min(2 ** failedLoads++, retryFactorMax);
  }

  function chooseDelayMs(): number {
    if (isHintedDuringPoll) return hintQuietMs;
    if (pendingText !== undefined) return Math.min(o.pollMs, Math.max(0, retryAtMs - performance.now()));
    const factor = lastText === undefined ? 1 : 2 ** (failedReads - 1);
    const delayMs = failedReads === 0 ? o.pollMs : Math.min(o.pollMs, rereadMsMin * factor);
    return delayMs * (1 - jitter + 2 * jitter * Math.random());
  }

  async function poll(): Promise<void> {
    isPolling = true;
    isHintedDuringPoll = false;
    readBeforeMs = Infinity;
    clearTimeout(timer);
    await read();
    if (!stopped.signal.aborted) await loadPending();
    isPolling = false;
    if (!stopped.signal.aborted) timer = setTimeout(() => void poll(), chooseDelayMs());
  }

  const unwatch = source.watch?.(() => {
    if (isPolling) {
      isHintedDuringPoll = true;
      return;
    }
    clearTimeout(timer);
    const nowMs = performance.now();
    readBeforeMs = Math.min(readBeforeMs, nowMs + hintWaitMsMax);
    timer = setTimeout(() => void poll(), Math.max(0, Math.min(hintQuietMs, readBeforeMs - nowMs)));
  });
  void poll();
  return () => {
    stopped.abort();
    clearTimeout(timer);
    unwatch?.();
  };
}
