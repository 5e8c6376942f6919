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
