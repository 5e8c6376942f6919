// Which supergraph, or bundle of documents, is served: the last text of the source that could be loaded, be it new or an earlier one (a rollback). A start serves `lastGood`
// while the source has none that can be loaded; without `lastGood`, nothing.
import type { LoadOutcome } from "../engine/generation/generations.ts";
import type { GatewayObserver } from "../observations.ts";
import type { LastGood } from "./last-good.ts";
import { type TextWatcherOptions, watchText } from "./text-watcher.ts";

export interface SupergraphWatcherOptions extends Omit<TextWatcherOptions, "onUnreadable" | "onText" | "onUnchanged"> {
  /** In the observations. */
  readonly subject: "supergraph" | "documents";
  readonly lastGood?: LastGood | undefined;
  /** How long a start waits for the source before it serves `lastGood`. */
  readonly sourceWaitMs?: number;
  /** Called for one text at a time. */
  readonly load: (text: string) => Promise<LoadOutcome>;
  readonly observe: GatewayObserver;
}

export interface SupergraphWatcher {
  readonly source: string;
  status(): SupergraphStatus;
  stop(): void;
}

export interface SupergraphStatus {
  /**
   * 0 if the last poll of the source confirmed the supergraph in use, or there is none. Otherwise the time since a poll did; for one from
   * `lastGood`, since that was written.
   */
  readonly staleSeconds: number;
  /** Why the text of the source cannot be used. */
  readonly rejected: Extract<LoadOutcome, { readonly kind: "rejected" }> | undefined;
}

/** A supergraph of a thousand types is loaded in a second, so a start is complete within five. */
const sourceWaitMsDefault = 2_000;

export function watchSupergraph(o: SupergraphWatcherOptions): SupergraphWatcher {
  const { source, subject, observe } = o;
  const served = createServedText(o);
  let isUnreadable = false;
  const noteRead = () => {
    if (isUnreadable) observe({ kind: `${subject}-available`, source: source.name });
    isUnreadable = false;
  };
  const waited = setTimeout(() => void served.restore(), o.sourceWaitMs ?? sourceWaitMsDefault);
  const stopWatching = watchText({
    ...o,
    onUnreadable(cause, isRepeated) {
      if (isRepeated) observe({ kind: `${subject}-still-unavailable`, source: source.name });
      else observe({ kind: `${subject}-unavailable`, source: source.name, cause });
      isUnreadable = true;
      served.doubt();
      return served.restore();
    },
    onUnchanged() {
      noteRead();
      served.confirm();
    },
    async onText(text) {
      noteRead();
      const outcome = await served.replace(text);
      await served.restore();
      return outcome.kind === "retry" ? "retry" : "done";
    },
  });
  return {
    source: source.name,
    status: served.status,
    stop() {
      clearTimeout(waited);
      stopWatching();
    },
  };
}

/** Loads one text at a time. */
function createServedText({ source, subject, lastGood, load, observe }: SupergraphWatcherOptions) {
  let textInUse: string | undefined;
  let textOfSource: string | undefined;
  let confirmedAtMs = 0;
  let isConfirmed = false;
  let rejected: SupergraphStatus["rejected"];
  let mayRestore = true;
  let turn: Promise<unknown> = Promise.resolve();

  function takeTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = turn.then(run);
    turn = result;
    return result;
  }

  /** A poll found `textOfSource`, whether it is in use or not. */
  function confirm(): void {
    if (textOfSource !== textInUse) return;
    isConfirmed = true;
    confirmedAtMs = Date.now();
    rejected = undefined;
  }

  async function replace(text: string): Promise<LoadOutcome> {
    textOfSource = text;
    const outcome: LoadOutcome = text === textInUse ? { kind: "loaded" } : await load(text);
    isConfirmed = false;
    rejected = outcome.kind === "rejected" ? outcome : undefined;
    if (outcome.kind !== "loaded") return outcome;
    // The swap does not wait for a slow disk.
    if (text !== textInUse) void lastGood?.write(text);
    textInUse = text;
    confirm();
    return outcome;
  }

  async function restore(): Promise<void> {
    if (textInUse !== undefined || !mayRestore) return;
    const last = await lastGood?.read();
    const outcome = last && (await load(last.text));
    mayRestore = outcome?.kind === "retry";
    if (outcome?.kind !== "loaded") return;
    textInUse = last?.text;
    confirmedAtMs = last?.writtenAtMs ?? 0;
    observe({ kind: `${subject}-restored`, source: source.name, ageSeconds: staleSeconds() });
  }

  function staleSeconds(): number {
    if (textInUse === undefined || isConfirmed) return 0;
    return Math.max(1, Math.round((Date.now() - confirmedAtMs) / 1_000));
  }

  return {
    confirm,
    doubt: () => void (isConfirmed = false),
    replace: (text: string) => takeTurn(() => replace(text)),
    /** Serves `lastGood` if nothing is served. */
    restore: () => takeTurn(restore),
    status: () => ({ staleSeconds: staleSeconds(), rejected }),
  };
}
