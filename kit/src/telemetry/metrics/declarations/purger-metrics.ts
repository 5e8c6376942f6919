import { type MetricDeclarations, okOrFailed, requestSeconds } from "./metric-declaration.ts";

/** The purger purges each tag twice. `cache` is one of the configured URLs. */
export const purgerMetrics = {
  tributary_purger_requests_total: {
    kind: "counter",
    help: "Purges that were sent, by result (ok, failed). A failed one is repeated until the cache accepts it.",
    labels: ["cache", "result"],
    expected: { result: okOrFailed },
  },
  tributary_purger_tags_total: {
    kind: "counter",
    help: "Tags in purges that the cache accepted; each is sent twice.",
    labels: ["cache"],
  },
  tributary_purger_lag_seconds: {
    kind: "histogram",
    help: "Time from the arrival of a change to the first purge that the cache accepted.",
    labels: ["cache"],
    buckets: requestSeconds,
  },
  tributary_purger_queue_size: {
    kind: "gauge",
    help: "Tags that wait for a purge, also for the second one.",
    labels: ["cache"],
  },
  tributary_purger_overflows_total: {
    kind: "counter",
    help: "How often more than PURGE_QUEUE_MAX tags waited, so that whole services were purged instead.",
    labels: ["cache"],
  },
  tributary_purger_resets_total: {
    kind: "counter",
    help: "How often the whole service was purged because its feed had a gap, and once at each start.",
    labels: ["service"],
  },
} as const satisfies MetricDeclarations;
