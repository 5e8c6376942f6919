import DataLoader from "dataloader";

/** In one SQL statement. */
const keysMax = 1_000;

/** Ids of the same tick become one call per 1,000 ids. @param findRows returns the rows that exist, in any order. */
export function createLoaderById<Row>(
  findRows: (ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): DataLoader<string, Row | null, string> {
  return createLoaderByKey(async (ids) => {
    const rows = await findRows(ids);
    const rowById = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((id) => rowById.get(id) ?? null);
  });
}

/** Keys with equal JSON are one key. @param load returns one value for each of at most 1,000 keys, in their order. */
export function createLoaderByKey<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
): DataLoader<Key, Value, string> {
  return new DataLoader(load, { maxBatchSize: keysMax, cacheKeyFn: (key) => JSON.stringify(key) });
}

/** Adds `clearAll`, for after each mutation: a later one of the same operation must not read values from before. */
export function withClearAll<Loaders extends Readonly<Record<string, { clearAll(): unknown }>>>(
  loaders: Loaders,
): Loaders & { clearAll(): void } {
  return {
    ...loaders,
    clearAll() {
      for (const loader of Object.values(loaders)) loader.clearAll();
    },
  };
}
