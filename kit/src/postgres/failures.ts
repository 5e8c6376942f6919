// Which failures of statements end by themselves, with the same connection or with another one. Codes: PostgreSQL manual, appendix A.
import pg from "pg";
import { AppError } from "../errors/app-error.ts";
import { NoConnection, NoFreeConnection } from "./connecting.ts";

const temporaryCodes = /^(08(?!P01)|28|3D|53|57|58)|^(25P03|40001|40P01|55P03)$/;
/** Deadlocks and serialization failures, insufficient resources such as too many connections, and the timeouts of locks, statements and transactions. */
const busyCodes = /^(40|53|25P03|55P03|57014)/;
const sessionEndCodes = /^(08|57P|25P03)/;
const networkCodes = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
const driverMessages = /timeout|terminated|Connection ended|not queryable|Query read/i;

/**
 * Code and function in PostgreSQL's source. The session prepared a statement before the schema changed: its result type, or the type of a
 * trigger function's parameter, is another one. 26000: it has lost its prepared statements.
 */
const outdatedSession = /^(0A000 RevalidateCachedQuery|42804 plpgsql_param_eval_recfield|26000 .*)$/;
/** Such as a former primary. A standby cannot even plan a statement that reads an unlogged table. */
const readOnlySession = /^(25006 .*|0A000 get_relation_info)$/;

/** The statement has not run, or is rolled back, and may succeed in a session that is opened now. */
export function isOutdatedSession(error: unknown): error is Error {
  return outdatedSession.test(describe(error));
}

/** As above, if the new session is at another server. */
export function isReadOnlySession(error: unknown): error is Error {
  return readOnlySession.test(describe(error));
}

/** PostgreSQL has rolled the transaction back, and it may succeed if it is repeated. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
}

/** Can end without a change to the service's code. 08P01 is a protocol violation. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return temporaryCodes.test(error.code ?? "") || isReadOnlySession(error);
  return isNetworkFailure(error);
}

/** Of the temporary failures: PostgreSQL responds, but not in time. */
export function isBusy(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? busyCodes.test(error.code ?? "") : error instanceof NoFreeConnection;
}

export function isConnectionLost(error: unknown): error is Error {
  if (error instanceof pg.DatabaseError) return sessionEndCodes.test(error.code ?? "");
  return isNetworkFailure(error);
}

/** A column or a table. A service starts only if all its migrations are applied, so the schema lacks it for want of a migration, or it is misspelt. */
export function isMissingInSchema(error: unknown): error is Error {
  return error instanceof pg.DatabaseError && (error.code === "42703" || error.code === "42P01");
}

function isNetworkFailure(error: unknown): error is Error {
  if (error instanceof NoConnection) return true;
  if (!(error instanceof Error)) return false;
  // An action in a transaction may have rejected the request.
  if (error instanceof pg.DatabaseError || error instanceof AppError) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return networkCodes.test(code) || driverMessages.test(error.message);
}

/** Such as `0A000 RevalidateCachedQuery`. */
function describe(error: unknown): string {
  return error instanceof pg.DatabaseError ? `${error.code} ${error.routine}` : "";
}
