interface PendingLookup<T> {
  readonly id: string;
  readonly resolve: (row: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches the look-ups of one turn of the event loop, of all requests, into one statement. Nothing is cached, so each caller gets the state
 * after its call. Only for rows that are the same for every caller: access is checked afterwards.
 * @param idsMax ids per statement, at least 1.
 */
export function batchLookups<T extends { readonly id: string }>(
  find: (ids: readonly string[]) => Promise<readonly T[]>,
  idsMax = 100,
): (id: string) => Promise<T | undefined> {
  let pending: PendingLookup<T>[] = [];

  function send(): void {
    const batch = pending;
    pending = [];
    if (batch.length > 0) void lookUp(batch, find);
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(send);
      pending.push({ id, resolve, reject });
      if (pending.length >= idsMax) send();
    });
}

async function lookUp<T extends { readonly id: string }>(
  batch: readonly PendingLookup<T>[],
  find: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<void> {
  try {
    const rows = await find([...new Set(batch.map(({ id }) => id))]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { id, resolve } of batch) resolve(byId.get(id));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
