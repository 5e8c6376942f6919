import { gatewayMetrics } from "./gateway-metrics.ts";
import type { MetricDeclarations } from "./metric-declaration.ts";
import { admissionMetrics, feedMetrics, processMetrics, rateLimitMetrics } from "./process-metrics.ts";
import { purgerMetrics } from "./purger-metrics.ts";
import { restMetrics } from "./rest-proxy-metrics.ts";
import { serviceMetrics } from "./service-metrics.ts";

export const metricsOf = {
  service: { ...processMetrics, ...admissionMetrics, ...serviceMetrics },
  gateway: { ...processMetrics, ...admissionMetrics, ...rateLimitMetrics, ...feedMetrics, ...gatewayMetrics },
  rest: { ...processMetrics, ...admissionMetrics, ...rateLimitMetrics, ...feedMetrics, ...restMetrics },
  purger: { ...processMetrics, ...feedMetrics, ...purgerMetrics },
} as const satisfies Record<string, MetricDeclarations>;
