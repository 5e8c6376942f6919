import DataLoader from "dataloader";

/** The maximum number of keys in one call of `load` or `findRows`, and so in one SQL statement. */
const keysMax = 1_000;

/**
 * Creates a loader of rows by id for one GraphQL request: ids that resolvers load in the same tick become one call per 1,000 ids, and each id is
 * loaded once per request. An id without a row loads null.
 * @param findRows returns the rows that exist among at most 1,000 ids, in any order.
 */
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

/**
 * Creates a loader of one value per key for one GraphQL request. Resolvers' keys of the same tick become one call per 1,000 keys.
 * Keys with equal JSON are one key: objects need the same properties in the same order.
 * @param load returns one value for each of at most 1,000 keys, in the order of the keys.
 */
export function createLoaderByKey<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
): DataLoader<Key, Value, string> {
  return new DataLoader(load, { maxBatchSize: keysMax, cacheKeyFn: (key) => JSON.stringify(key) });
}
