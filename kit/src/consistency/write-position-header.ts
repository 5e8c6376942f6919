import { AppError, statusOf } from "../errors/app-error.ts";
import type { Writer } from "../postgres/postgres.ts";
import { runInWriteScope, type WriteScope } from "../postgres/write-scope.ts";
import { type WritePosition, writeWritePosition } from "../feed/position.ts";

/** By it a service tells the gateway or the REST proxy where a write is in its feed. Neither passes it on to clients, nor accepts it from them. */
export const writePositionHeader = "write-position";

/** Statuses of errors that depend on the service's data: a client that reads next must not see older data. */
const dataStatuses: ReadonlySet<number> = new Set([404, 409, 410, 412]);

/**
 * Runs an unsafe request, and passes a position that includes all writes which it made or saw to `addHeader`: after a result, and after an error that
 * depends on the service's data.
 * @throws the error of `run`.
 */
export function addWritePosition<T>(
  database: Pick<Writer, "write">,
  addHeader: (name: string, value: string) => void,
  run: () => Promise<T>,
): Promise<T> {
  return runInWriteScope(async (scope) => {
    try {
      const result = await run();
      addPosition(await positionOf(scope, database));
      return result;
    } catch (error) {
      // The error may come from another request's write, which is later than those of this scope.
      if (error instanceof AppError && dataStatuses.has(statusOf[error.code])) {
        addPosition(await findPosition(database));
      }
      throw error;
    }
  });

  function addPosition(position: WritePosition | undefined): void {
    if (position) addHeader(writePositionHeader, writeWritePosition(position));
  }
}

/**
 * A position that includes all writes of the request so far. A request that has written nothing, or in several transactions, needs a statement for it.
 * @returns undefined if that statement fails: a response without a receipt is better than an error for a write that was made.
 */
export async function positionOf(
  scope: WriteScope,
  database: Pick<Writer, "write">,
): Promise<WritePosition | undefined> {
  return scope.position ?? (await findPosition(database));
}

/** A position that includes all writes which were committed before. */
async function findPosition(database: Pick<Writer, "write">): Promise<WritePosition | undefined> {
  try {
    return await runInWriteScope(async (own) => {
      await database.write("find-write-position", "select true as found");
      return own.position;
    });
  } catch {
    return undefined;
  }
}
