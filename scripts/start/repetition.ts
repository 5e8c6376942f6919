export interface RepetitionOptions {
  readonly now: () => number;
  /** Lines of one kind that are shown in a second. */
  readonly perSecondMax: number;
}

/** What becomes of a line: shown, shown as the last one for now, or left out. */
export type Showing = "show" | "show-last" | "omit";

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
      return perSecondMax === 1 ? "show-last" : "show";
    }
    current.shown++;
    if (current.shown > perSecondMax) return "omit";
    return current.shown === perSecondMax ? "show-last" : "show";
  };
}
