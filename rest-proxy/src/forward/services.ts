import type { UpstreamStatus } from "@tributary/kit/process/process-status";
import type { Observe } from "../telemetry/observations.ts";
import type { ServiceClientObserver } from "../telemetry/service-observer.ts";
import { createServiceClient, type ServiceClient } from "./client.ts";

export interface ServicesOptions {
  /** Scheme, host and port of each replica, or of a name with several addresses; by service. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly inFlightMax: number;
  /** For the whole response of a service. */
  readonly upstreamTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly observe: Observe;
  readonly observers?: ((service: string) => ServiceClientObserver) | undefined;
}

/** Each created at its first request. */
export interface Services {
  /** @throws Error for a service without an address. */
  get(service: string): ServiceClient;
  /** Of its replicas. @throws Error for a service without an address. */
  originsOf(service: string): readonly string[];
  readStatus(service: string): UpstreamStatus;
  close(): Promise<void>;
}

export function createServices(options: ServicesOptions): Services {
  const clients = new Map<string, ServiceClient>();
  const addressesOf = (service: string) => {
    const urls = options.addresses[service];
    if (urls === undefined) throw new Error(`The service ${service} has no address.`);
    return urls;
  };

  return {
    originsOf: (service) => addressesOf(service).map((url) => new URL(url).origin),
    get(service) {
      const existing = clients.get(service);
      if (existing) return existing;
      const urls = addressesOf(service);
      const client = createServiceClient({
        service,
        urls,
        requestsMax: options.inFlightMax,
        timeoutMs: options.upstreamTimeoutMs,
        readTimeoutMs: options.responseTimeoutMs,
        observe: options.observe,
        observer: options.observers?.(service),
      });
      clients.set(service, client);
      return client;
    },
    readStatus: (service) => clients.get(service)?.readStatus() ?? { breaker: "closed", replicas: [] },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}
