export interface RepetitionOptions {
  readonly now: () => number;
  /** Lines of one kind that are shown in a second. */
  readonly perSecondMax: number;
}

/** What becomes of a line: shown, omitted as the first of this second, or omitted after others. */
export type Showing = "show" | "omit-first" | "omit";

/** Kinds of lines that are remembered; beyond it all are forgotten. */
const kindsMax = 1_000;
const windowMs = 1_000;

/** Keeps a part that says the same thing for every request from pushing everything else out of the terminal. */
export function createRepetition({ now, perSecondMax }: RepetitionOptions): (kind: string) => Showing {
  const windows = new Map<string, { readonly sinceMs: number; shown: number }>();
  return (kind) => {
    const current = windows.get(kind);
    if (current === undefined || now() - current.sinceMs >= windowMs) {
      if (windows.size >= kindsMax) windows.clear();
      windows.set(kind, { sinceMs: now(), shown: 1 });
      return "show";
    }
    current.shown++;
    if (current.shown <= perSecondMax) return "show";
    return current.shown === perSecondMax + 1 ? "omit-first" : "omit";
  };
}

/** Beyond so many lines, or after so long, an attempt's output is printed as it comes. */
const retryLinesMax = 200;
const retryMs = 5_000;

export interface RetryOutput {
  /** Prints the line, or holds it back while the output equals that of the attempt before. */
  line(text: string): void;
  /** Ends the attempt. True if its whole output equals that of the attempt before, and was not printed. */
  fail(): boolean;
}

/** Prints the output of a process that is started again and again only once while each attempt fails in the same way. */
export function createRetryOutputs(say: (line: string) => void): { begin(): RetryOutput; reset(): void } {
  let before: readonly string[] = [];

  function begin(): RetryOutput {
    const known = before;
    const lines: string[] = [];
    let isHeld = known.length > 0;
    const flush = () => {
      if (isHeld) for (const line of lines) say(line);
      isHeld = false;
    };
    const timer = setTimeout(flush, retryMs).unref();
    return {
      line(text) {
        const isSame = isHeld && comparable(text) === comparable(known[lines.length] ?? "");
        if (!isSame) flush();
        if (lines.length < retryLinesMax) lines.push(text);
        if (!isHeld) say(text);
      },
      fail() {
        clearTimeout(timer);
        if (lines.length !== known.length) flush();
        before = lines;
        return isHeld;
      },
    };
  }

  return {
    begin,
    reset() {
      before = [];
    },
  };
}

/** A log record without what differs in each process. */
function comparable(line: string): string {
  return line.replace(/"time":"[^"]*"/, "").replace(/"pid":\d+/, "");
}
