import type { Attempt } from "./attempt.ts";

/** Attempts by the connection pool: for what has no client of its own, and wants no middleware. */
export const poolAttempt: Attempt = ({ pool }, { method, target, headers, body }, deadline) =>
  pool.ask({ method, path: target, headers, body }, deadline);
