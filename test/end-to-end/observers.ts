import { silentLog } from "../../kit/src/process/log.ts";
import { metricsOf } from "../../kit/src/telemetry/metrics/declarations/metrics-of-processes.ts";
import { createPrometheus } from "../../kit/src/telemetry/metrics/prometheus.ts";
import type { SpanCollector } from "../../kit/src/testing/trace.ts";
import { createFetchObserver } from "../../gateway/src/telemetry/fetch-observer.ts";
import type { TelemetryObservers } from "../../gateway/src/telemetry/gateway-telemetry.ts";
import { createGatewayRequestObserver } from "../../gateway/src/telemetry/request-observer.ts";
import { createCacheObserver } from "../../rest-proxy/src/telemetry/cache-counts.ts";
import type { ProxyObservers } from "../../rest-proxy/src/telemetry/proxy-telemetry.ts";
import { createProxyRequestObserver } from "../../rest-proxy/src/telemetry/request-observer.ts";
import { createServiceObservers } from "../../rest-proxy/src/telemetry/service-observer.ts";

const options = { log: silentLog, accessLog: "off", knownClients: [] } as const;

export async function observeGateway(collector: SpanCollector): Promise<TelemetryObservers> {
  const [metrics, trace] = await Promise.all([createPrometheus(metricsOf.gateway), collector.createTrace("gateway")]);
  const requestObserver = createGatewayRequestObserver({ ...options, metrics, trace, knownOperations: ["Feed"] });
  return { requestObserver, fetchObserver: createFetchObserver(metrics, trace) };
}

export async function observeProxy(collector: SpanCollector): Promise<ProxyObservers> {
  const [metrics, trace] = await Promise.all([createPrometheus(metricsOf.rest), collector.createTrace("rest-proxy")]);
  return {
    requests: createProxyRequestObserver({ ...options, metrics, trace, newestVersion: 2 }),
    services: createServiceObservers(metrics),
    cache: createCacheObserver(metrics),
  };
}
