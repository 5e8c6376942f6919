import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { expect, test } from "vitest";
import { exposeGauges } from "./cache-metrics.ts";

test("a scrape reads the current sizes of the caches and of the queue", async () => {
  const metrics = await createPrometheus(metricsOf.gateway);
  let entries = 1;
  const size = () => ({ entries, weight: 10 * entries });
  exposeGauges(metrics, {
    cacheSizes: () => ({ documents: size(), plans: size(), introspection: size(), "persisted-queries": size() }),
    countQueuedJobs: () => entries,
  });
  await metrics.write();
  entries = 2;
  const text = await metrics.write();
  for (const cache of ["documents", "plans", "introspection", "persisted-queries"]) {
    expect(text).toContain(`tributary_gateway_cache_entries{cache="${cache}"} 2`);
    expect(text).toContain(`tributary_gateway_cache_bytes{cache="${cache}"} 20`);
  }
  expect(text).toContain("tributary_gateway_planner_queue_length 2");
});
