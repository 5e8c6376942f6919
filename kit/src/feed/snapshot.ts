/** A PostgreSQL snapshot (`pg_snapshot`): which transactions were visible at one moment. */
export interface Snapshot {
  /** `xmin:xmax:running`, as PostgreSQL writes it. */
  readonly text: string;
  /** Whether the transaction with this number (`xid8`) had committed or aborted. */
  includes(xid: number): boolean;
}

const syntax = /^(\d{1,15}):(\d{1,15}):((?:\d{1,15}(?:,\d{1,15})*)?)$/;

/** @throws Error for a text that PostgreSQL does not write. */
export function parseSnapshot(text: string): Snapshot {
  const [, , xmax, list] = syntax.exec(text) ?? [];
  if (xmax === undefined || list === undefined) throw new Error(`Not a snapshot: ${JSON.stringify(text)}`);
  const end = Number(xmax);
  const running = new Set(list === "" ? [] : list.split(",").map(Number));
  return { text, includes: (xid) => xid < end && !running.has(xid) };
}
