// npm run bench:rest: the REST proxy beside others, and the posts service without the proxy.
import type { Benchmark } from "./benchmark.ts";
import { restServers } from "../contenders/rest-servers.ts";
import { restWorkloads } from "../workloads/rest-workloads.ts";

export const restBenchmark: Benchmark = {
  script: "bench:rest",
  title: "REST proxy",
  contenders: restServers,
  workloads: restWorkloads,
  rounds: 5,
  warmUpMs: 5_000,
  windowMs: 5_000,
  // Ratios of the CPU time per request. `max` has targets by the name of the workload.
  ratioTargets: [
    {
      title: "Tributary ÷ empty `node:http` handler",
      numerator: "ours",
      denominator: "empty-handler",
      max: { hit: 1.15 },
    },
    { title: "Tributary ÷ nginx, `proxy_cache`", numerator: "ours", denominator: "nginx-cache", max: { hit: 2 } },
    { title: "Tributary ÷ `@fastify/http-proxy`", numerator: "ours", denominator: "fastify", max: { pass: 1.05 } },
    {
      // The same contender on both sides, with two workloads.
      title: "posts service: a 304 ÷ its full response",
      numerator: "service",
      denominator: "service",
      denominatorWorkload: "service",
      max: { "service-not-modified": 0.5 },
    },
  ],
};
