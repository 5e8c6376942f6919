// Which failures of statements end by themselves, with the same connection or with another one. Codes: PostgreSQL manual, appendix A.
import pg from "pg";
import { AppError } from "../errors/app-error.ts";
import { NoConnection } from "./connecting.ts";

/** Codes of failures that can end without a change to the service's code: see `isTemporary`. */
const temporaryCodes = /^(08(?!P01)|28|3D|53|57|58)|^(25P03|40001|40P01|55P03)$/;
/** Codes after which PostgreSQL has ended the session. */
const sessionEndCodes = /^(08|57P|25P03)/;
/** The codes of Node's errors for sockets and DNS. */
const networkCodes = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
/** The driver's errors without a code. */
const driverMessages = /timeout|terminated|Connection ended|not queryable|Query read/i;

/**
 * The code, and the function in PostgreSQL's source, of errors of sessions that prepared a statement before the schema changed: the statement has
 * another result type, or a trigger function has parameters of another type. A session that has lost its prepared statements (26000) is similar.
 */
const outdatedSession = /^(0A000 RevalidateCachedQuery|42804 plpgsql_param_eval_recfield|26000 .*)$/;
/** A session that may only read, such as one of a former primary. A standby cannot even plan a statement that reads an unlogged table. */
const readOnlySession = /^(25006 .*|0A000 get_relation_info)$/;

/** The statement has not run, or is rolled back, and may succeed in a session that is opened now. */
export function isOutdatedSession(error: unknown): error is Error {
  return outdatedSession.test(describe(error));
}

/** The statement has not run, and may succeed in a session that is opened now, if that is at another server. */
export function isReadOnlySession(error: unknown): error is Error {
  return readOnlySession.test(describe(error));
}

/** A deadlock, or a serialization failure: PostgreSQL has rolled the transaction back, and it may succeed if it is repeated. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
}

/**
 * Failures that can end without a change to the service's code: lost connections, read-only sessions, and the PostgreSQL error classes 08 without
 * 08P01 (a protocol violation), 28 (authorization), 3D (no such database), 53, 57, 58, and 25P03, 40001, 40P01, 55P03.
 */
export function isTemporary(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return temporaryCodes.test(error.code ?? "") || isReadOnlySession(error);
  return isNetworkFailure(error);
}

/** Whether the connection cannot be used any longer: it failed, or PostgreSQL has ended the session (57P, 25P03, 08). */
export function isConnectionLost(error: unknown): error is Error {
  if (error instanceof pg.DatabaseError) return sessionEndCodes.test(error.code ?? "");
  return isNetworkFailure(error);
}

/** Whether there is no connection, or the connection failed: the error is not PostgreSQL's response to a statement. */
function isNetworkFailure(error: unknown): error is Error {
  if (error instanceof NoConnection) return true;
  if (!(error instanceof Error)) return false;
  // The statement failed, or an action in a transaction rejected the request.
  if (error instanceof pg.DatabaseError || error instanceof AppError) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return networkCodes.test(code) || driverMessages.test(error.message);
}

/** Code and function, such as `0A000 RevalidateCachedQuery`. Empty if the error is not of PostgreSQL. */
function describe(error: unknown): string {
  return error instanceof pg.DatabaseError ? `${error.code} ${error.routine}` : "";
}
