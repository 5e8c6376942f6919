import { currentCaller, joinCallers, runForCaller, type WaitingCaller } from "../postgres/waiting-caller.ts";

interface PendingLookup<T> {
  readonly caller: WaitingCaller | undefined;
  readonly id: string;
  readonly resolve: (row: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches the lookups of one turn of the event loop, of all requests in the process, into one statement. Nothing is cached, so each caller
 * gets the row as it is after its call. Only for rows that are the same for every caller: callers check access afterwards.
 * @param idsMax at least 1. The statement starts at once when this number is reached.
 */
export function batchLookups<T extends { readonly id: string }>(
  findRows: (ids: readonly string[]) => Promise<readonly T[]>,
  idsMax = 100,
): (id: string) => Promise<T | undefined> {
  let pending: PendingLookup<T>[] = [];

  function send(): void {
    const batch = pending;
    pending = [];
    // Empty if `idsMax` was reached in this turn.
    if (batch.length > 0)
      void runForCaller(joinCallers(batch.map(({ caller }) => caller)), () => settle(batch, findRows));
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(send);
      pending.push({ caller: currentCaller(), id, resolve, reject });
      if (pending.length >= idsMax) send();
    });
}

async function settle<T extends { readonly id: string }>(
  batch: readonly PendingLookup<T>[],
  findRows: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<void> {
  try {
    const distinctIds = new Set(batch.map(({ id }) => id));
    const rows = await findRows([...distinctIds]);
    const rowById = new Map(rows.map((row) => [row.id, row]));
    for (const { id, resolve } of batch) resolve(rowById.get(id));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
