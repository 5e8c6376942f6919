import { CallerLeft } from "../postgres/waiting-caller.ts";
import { errorTypeOf } from "./tracing/error-type.ts";
import type { serviceMetrics } from "./metrics/declarations/service-metrics.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Trace } from "./tracing/trace.ts";

export type AroundStatement = <T>(name: string, run: () => Promise<T>) => Promise<T>;

/** Undefined if metrics and tracing are off. */
export function createStatementObserver(
  metrics: Metrics<typeof serviceMetrics>,
  trace: Trace,
): AroundStatement | undefined {
  if (!metrics.isOn && !trace.isOn) return undefined;
  const durations = metrics.histogram("tributary_service_database_statement_duration_seconds");
  // Of every transaction. A statement of a store gets its zeros at its first use.
  for (const statement of ["acquire", "begin", "commit", "rollback"]) metrics.announce({ statement });
  return async (name, run) => {
    const startedMs = performance.now();
    const attributes = { "db.system.name": "postgresql", "db.query.summary": name };
    const span = trace.current()?.child(name, { kind: "client", attributes });
    let outcome = "ok";
    try {
      return await run();
    } catch (error) {
      outcome = outcomeOf(error);
      span?.fail(errorTypeOf(error));
      throw error;
    } finally {
      span?.end();
      durations.observe({ statement: name, outcome }, (performance.now() - startedMs) / 1_000);
    }
  };
}

/** Integrity constraint violation (PostgreSQL manual, appendix A), such as a duplicate email address. */
const constraintViolationCode = /^23\w{3}$/;

function outcomeOf(error: unknown): "cancelled" | "rejected" | "failed" {
  if (error instanceof CallerLeft) return "cancelled";
  return isConstraintViolation(error) ? "rejected" : "failed";
}

function isConstraintViolation(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && constraintViolationCode.test(code);
}
