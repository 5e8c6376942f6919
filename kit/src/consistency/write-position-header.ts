import { AppError, statusOf } from "../errors/app-error.ts";
import type { Writer } from "../postgres/postgres.ts";
import { runForCaller } from "../postgres/waiting-caller.ts";
import { runInWriteScope, type WriteScope } from "../postgres/write-scope.ts";
import { type WritePosition, writeWritePosition } from "../feed/position.ts";

/** From services to the gateway and the REST proxy, which remove it in either direction: where a write is in the service's feed. */
export const writePositionHeader = "write-position";

/** Statuses of errors that depend on the service's data: a client that reads next must not see older data. */
const dataStatuses: ReadonlySet<number> = new Set([404, 409, 410, 412]);

/** After success, `addHeader` gets a position that includes the request's writes; after an error that depends on the service's data, all writes. */
export function runAndAddWritePosition<T>(
  database: Pick<Writer, "write">,
  addHeader: (name: string, value: string) => void,
  run: () => Promise<T>,
): Promise<T> {
  return runInWriteScope(async (scope) => {
    try {
      const result = await run();
      addPosition(await findPositionIncluding(scope, database));
      return result;
    } catch (error) {
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
 * If the request has written nothing, or in several transactions (whose positions cannot be combined), a statement reads a position.
 * @returns undefined if that statement fails: a response without a receipt is better than an error for a write that was made.
 */
export async function findPositionIncluding(
  scope: WriteScope,
  database: Pick<Writer, "write">,
): Promise<WritePosition | undefined> {
  return scope.position ?? (await findPosition(database));
}

/** Includes all committed writes: another request's write may be the cause of an error. @returns undefined if the statement fails. */
export async function findPosition(database: Pick<Writer, "write">): Promise<WritePosition | undefined> {
  try {
    return await runInWriteScope(async (newScope) => {
      // `write` adds the position of the statement's transaction to the scope, also if the statement changes no row. Outside of the request: one that has
      // read too much after its write needs the position too.
      await runForCaller(undefined, () => database.write("find-write-position", "select true as found"));
      return newScope.position;
    });
  } catch {
    return undefined;
  }
}
