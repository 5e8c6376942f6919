interface Waiting<T> {
  readonly id: string;
  readonly resolve: (found: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins look-ups that come in one turn of the event loop, from whatever requests, into one statement: under load a look-up costs its
 * share of one. Nothing is remembered, so each hears what was true after it asked. For what is the same for every caller; who may know
 * of it is asked afterwards.
 * @param idsMax the most that one statement looks up, at least 1.
 */
export function batchLookups<T extends { readonly id: string }>(
  find: (ids: readonly string[]) => Promise<readonly T[]>,
  idsMax = 100,
): (id: string) => Promise<T | undefined> {
  let waiting: Waiting<T>[] = [];

  function send(): void {
    const asked = waiting;
    waiting = [];
    if (asked.length > 0) void answer(asked, find);
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ id, resolve, reject });
      if (waiting.length >= idsMax) send();
    });
}

async function answer<T extends { readonly id: string }>(
  asked: readonly Waiting<T>[],
  find: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<void> {
  try {
    const rows = await find([...new Set(asked.map(({ id }) => id))]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { id, resolve } of asked) resolve(byId.get(id));
  } catch (error) {
    for (const { reject } of asked) reject(error);
  }
}
