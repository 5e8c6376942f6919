// npm run bench:telemetry: the cost of metrics and traces. A process with telemetry and one without share a core, each under its own connections.
import type { Contender } from "../contenders/contender.ts";
import { gateways } from "../contenders/gateways.ts";
import { restServers } from "../contenders/rest-servers.ts";
import { gatewayWorkloads } from "../workloads/gateway-workloads.ts";
import { restWorkloads } from "../workloads/rest-workloads.ts";
import type { Benchmark } from "./benchmark.ts";

/** To each of the two processes. */
const connections = 16;

const gateway = getByName(gateways, "ours-fast");
const restProxy = getByName(restServers, "ours");
const service = getByName(restServers, "service");

export const telemetryBenchmark: Benchmark = {
  script: "bench:telemetry",
  title: "Telemetry overhead",
  contenders: [
    addTelemetry("gateway", gateway, ["heavy", "small"]),
    createControl("gateway-control", gateway, ["small"]),
    addTelemetry("rest-proxy", restProxy, ["hit", "pass"]),
    addTelemetry("service", service, ["service", "service-graphql"]),
    createControl("service-control", service, ["service"]),
  ],
  workloads: [
    { ...getByName(gatewayWorkloads, "heavy"), title: "gateway, heavy", connections },
    { ...getByName(gatewayWorkloads, "small"), title: "gateway, small", connections },
    { ...getByName(restWorkloads, "hit"), title: "REST proxy, cache hit", connections },
    { ...getByName(restWorkloads, "pass"), title: "REST proxy, pass-through", connections },
    { ...getByName(restWorkloads, "service"), title: "posts service, a post by REST", connections },
    { ...getByName(restWorkloads, "service-graphql"), title: "posts service, the post by GraphQL", connections },
  ],
  ratioTargets: [],
  rounds: 5,
  // Longer than in the other benchmarks, because two processes share the core.
  warmUpMs: 10_000,
  windowMs: 10_000,
};

/** Turns on metrics, and traces of one request in a hundred, the default rate once a collector is configured. May cost 10 % CPU time. */
function addTelemetry(name: string, baseline: Contender, workloads: readonly string[]): Contender {
  return {
    ...baseline,
    name,
    title: "with telemetry",
    workloads,
    baseline,
    baselineRatioMax: 1.1,
    start(context) {
      const baselineCommand = baseline.start(context);
      const environment = {
        ...baselineCommand.environment,
        ADMIN_PORT: "0",
        OTEL_EXPORTER_OTLP_ENDPOINT: context.collectorUrl,
        OTEL_TRACES_SAMPLER_ARG: "0.01",
      };
      return { ...baselineCommand, environment };
    },
  };
}

/** Measures the contender beside itself, which shows the accuracy of the ratios. */
function createControl(name: string, baseline: Contender, workloads: readonly string[]): Contender {
  return { ...baseline, name, title: "control", workloads, baseline };
}

function getByName<T extends { readonly name: string }>(items: readonly T[], name: string): T {
  const item = items.find((candidate) => candidate.name === name);
  if (item === undefined) throw new Error(`The benchmark has no ${name}.`);
  return item;
}
