import { expect, test } from "vitest";
import { metricsOf } from "./metrics/metric-declarations.ts";
import { createPrometheus } from "./metrics/prometheus.ts";
import { createStatementObserver } from "./statement-observer.ts";
import { noTrace } from "./tracing/trace.ts";

test("constraint violations are counted separately from failures", async () => {
  const metrics = await createPrometheus(metricsOf.service);
  const around = createStatementObserver(metrics, noTrace);
  if (!around) throw new Error("metrics are on, so statements are observed");
  await around("insert", () => Promise.resolve(1));
  for (const code of ["23505", "23503", "57014", "53300", undefined]) {
    const error = Object.assign(new Error("no"), code === undefined ? {} : { code });
    await expect(around("insert", () => Promise.reject(error))).rejects.toBe(error);
  }
  const text = await metrics.write();
  const counts = ["ok", "rejected", "failed"].map((outcome) => {
    const series = `tributary_service_database_statement_duration_seconds_count{statement="insert",outcome="${outcome}"}`;
    return text
      .split("\n")
      .find((line) => line.startsWith(series))
      ?.slice(series.length + 1);
  });
  expect(counts).toEqual(["1", "2", "3"]);
});
