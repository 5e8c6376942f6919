import { errorTypeOf } from "./tracing/error-type.ts";
import type { serviceMetrics } from "./metrics/metric-declarations.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Trace } from "./tracing/trace.ts";

/** Surrounds each statement that a database is sent. @param name as its store calls it. */
export type AroundStatement = <T>(name: string, run: () => Promise<T>) => Promise<T>;

/** Times statements, and shows those of traced requests as spans. Undefined when neither is asked for: the database then does without. */
export function createStatementObserver(
  metrics: Metrics<typeof serviceMetrics>,
  trace: Trace,
): AroundStatement | undefined {
  if (!metrics.isOn && !trace.isOn) return undefined;
  const durations = metrics.histogram("tributary_service_database_statement_duration_seconds");
  // Those of every transaction. The statements of a store are announced by their first use, each with all its outcomes.
  for (const statement of ["acquire", "begin", "commit", "rollback"]) metrics.announce({ statement });
  return async (name, run) => {
    const begunMs = performance.now();
    const attributes = { "db.system.name": "postgresql", "db.query.summary": name };
    const span = trace.current()?.child(name, { kind: "client", attributes });
    let outcome = "ok";
    try {
      return await run();
    } catch (error) {
      outcome = isConstraint(error) ? "refused" : "failed";
      span?.fail(errorTypeOf(error));
      throw error;
    } finally {
      span?.end();
      durations.observe({ statement: name, outcome }, (performance.now() - begunMs) / 1_000);
    }
  };
}

/** Class 23, "integrity constraint violation" (PostgreSQL's manual, appendix A): such as an address that is taken. */
function isConstraint(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && /^23\w{3}$/.test(error.code);
}
