// npm run bench: the gateway beside others, under GraphQL operations.
import type { Benchmark } from "./benchmark.ts";
import { gateways } from "../contenders/gateways.ts";
import { gatewayWorkloads } from "../workloads/gateway-workloads.ts";

export const gatewayBenchmark: Benchmark = {
  script: "bench",
  title: "Gateway",
  contenders: gateways,
  workloads: gatewayWorkloads,
  memoryReference: "stock",
  rounds: 3,
  warmUpMs: 4_000,
  windowMs: 5_000,
  // The rows with targets first, then rows for comparison. `min` has targets by the name of the workload.
  ratioTargets: [
    {
      title: "stock ÷ Tributary, full path",
      numerator: "stock",
      denominator: "ours-full",
      min: { heavy: 15, "heavy-varying": 15, small: 12, "small-unshareable": 5.5, trivial: 7, documents: 7 },
    },
    {
      title: "stock ÷ Tributary, fast path, fetch sharing off",
      numerator: "stock",
      denominator: "ours-fast-alone",
      min: { heavy: 9, "heavy-varying": 9, small: 12, "small-unshareable": 10, trivial: 9, documents: 12 },
    },
    {
      title: "stock ÷ Tributary, fast path",
      numerator: "stock",
      denominator: "ours-fast",
      min: { heavy: 20, "heavy-varying": 20, small: 30, "small-unshareable": 10, trivial: 20, documents: 15 },
    },
    {
      title: "Hive ÷ Tributary, fast path, fetch sharing off",
      numerator: "hive",
      denominator: "ours-fast-alone",
      min: { heavy: 3, "heavy-varying": 3, small: 3, "small-unshareable": 8, trivial: 3 },
    },
    {
      title: "Mercurius ÷ Tributary, fast path, fetch sharing off",
      numerator: "mercurius",
      denominator: "ours-fast-alone",
      min: { heavy: 9, "heavy-varying": 9, small: 1.4, "small-unshareable": 1.4, trivial: 1.4 },
    },
    {
      title: "Tributary ÷ Tributary, entity cache",
      numerator: "ours-callers",
      denominator: "ours-entity-cache",
      min: { "callers-heavy": 3 },
    },
    {
      title: "Tributary, a document by id ÷ by text",
      numerator: "ours-documents",
      denominator: "ours-documents",
      denominatorWorkload: "by-text",
      max: { "by-id": 1 },
    },
    {
      title: "stock ÷ Tributary, full path, fetch sharing off",
      numerator: "stock",
      denominator: "ours-full-alone",
    },
    { title: "Hive, inbound dedup ÷ Tributary, fast path", numerator: "hive-dedup", denominator: "ours-fast" },
    { title: "Tributary, production ÷ Tributary, fast path", numerator: "ours-production", denominator: "ours-fast" },
    { title: "Tributary, production ÷ Tributary", numerator: "ours-production", denominator: "ours-callers" },
    { title: "stock ÷ Hive, inbound dedup", numerator: "stock", denominator: "hive-dedup" },
    { title: "stock ÷ Hive", numerator: "stock", denominator: "hive" },
    { title: "stock ÷ Mercurius", numerator: "stock", denominator: "mercurius" },
  ],
};
