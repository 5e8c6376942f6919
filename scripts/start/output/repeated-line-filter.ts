// Two limits on repeated output: lines of one kind per second (for output.ts), and equal failures of successive start attempts (for
// supervise.ts).
export interface RepeatedLineFilterOptions {
  readonly now: () => number;
  /** How many lines of one kind are shown in a second. */
  readonly perSecondMax: number;
}

/** `omit-first` is the first omitted line of a second; a note replaces it. */
export type LineDecision = "show" | "omit-first" | "omit";

/** How many kinds are counted. When there are more, all counts are reset. */
const kindsMax = 1_000;
const windowMs = 1_000;

/** Limits the lines of one kind, so that a line that a part logs for every request does not fill the terminal. */
export function createRepeatedLineFilter({
  now,
  perSecondMax,
}: RepeatedLineFilterOptions): (kind: string) => LineDecision {
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

/** After this many lines, or this time, an attempt's output is printed immediately. */
const retryLinesMax = 200;
const retryMs = 5_000;

export interface RetryOutput {
  /** Prints the line, or buffers it while the output equals the output of the previous attempt. */
  line(text: string): void;
  /** Ends the attempt. Returns true if its output equals the output of the previous attempt, and was not printed. */
  endAttempt(): boolean;
}

/** Prints the output of repeated start attempts only once while each attempt fails with the same output. */
export function createRetryOutputs(print: (line: string) => void): { startAttempt(): RetryOutput; reset(): void } {
  let previous: readonly string[] = [];

  function startAttempt(): RetryOutput {
    const expected = previous;
    const lines: string[] = [];
    let isBuffering = expected.length > 0;
    const flush = () => {
      if (isBuffering) for (const line of lines) print(line);
      isBuffering = false;
    };
    const timer = setTimeout(flush, retryMs).unref();
    return {
      line(text) {
        const isSame = isBuffering && comparable(text) === comparable(expected[lines.length] ?? "");
        if (!isSame) flush();
        if (lines.length < retryLinesMax) lines.push(text);
        if (!isBuffering) print(text);
      },
      endAttempt() {
        clearTimeout(timer);
        if (lines.length !== expected.length) flush();
        previous = lines;
        return isBuffering;
      },
    };
  }

  return {
    startAttempt,
    reset() {
      previous = [];
    },
  };
}

/** A log record without time and pid, which differ between attempts. */
function comparable(line: string): string {
  return line.replace(/"time":"[^"]*"/, "").replace(/"pid":\d+/, "");
}
