/** `pg_snapshot`: which transactions were visible at one moment. */
export interface Snapshot {
  /** `xmin:xmax:running`. */
  readonly text: string;
  /** Whether the transaction had committed or aborted. */
  includes(xid: number): boolean;
}

/** A double represents 15 digits exactly. */
const syntax = /^(\d{1,15}):(\d{1,15}):((?:\d{1,15}(?:,\d{1,15})*)?)$/;

export function parseSnapshot(text: string): Snapshot {
  const [, xminText, xmaxText, runningText] = syntax.exec(text) ?? [];
  // NaN for another form: the check below then throws.
  const xmin = Number(xminText);
  const xmax = Number(xmaxText);
  const running = runningText ? runningText.split(",").map(Number) : [];
  const isOrdered = running.every((xid, index) => {
    const previous = running[index - 1] ?? xmin;
    return xid >= previous && xid < xmax;
  });
  const isValid = xmin > 0 && xmin <= xmax && isOrdered;
  if (!isValid) throw new Error(`Not a snapshot: ${JSON.stringify(text)}`);
  const runningSet = new Set(running);
  return { text, includes: (xid) => xid < xmax && !runningSet.has(xid) };
}
