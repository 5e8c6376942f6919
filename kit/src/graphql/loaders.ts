import DataLoader from "dataloader";

/** Keys in one call of a loader's function, that is in one SQL statement. */
const keysMax = 1_000;

/**
 * Loads rows by id for one request: ids that resolvers load in the same tick become one call, and each id is loaded once.
 * An id without a row loads null.
 * @param find returns the existing rows of at most 1000 ids, in any order.
 */
export function loadById<Row>(
  find: (ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
): DataLoader<string, Row | null, string> {
  return loadByKey(async (ids) => {
    const rows = new Map((await find(ids)).map((row) => [idOf(row), row]));
    return ids.map((id) => rows.get(id) ?? null);
  });
}

/**
 * Loads one value per key for one request. Keys that are equal as JSON are one key.
 * @param load returns the values of at most 1000 keys, in the order of the keys.
 */
export function loadByKey<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
): DataLoader<Key, Value, string> {
  return new DataLoader(load, { maxBatchSize: keysMax, cacheKeyFn: (key) => JSON.stringify(key) });
}
