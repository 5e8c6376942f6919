import { AppError } from "@tributary/kit/errors/app-error";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { CounterSeries, HistogramSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import { ClientDisconnected } from "../errors/service-failure.ts";

/** The metrics of the requests to one service. `forward/client.ts` calls it for each request. */
export interface ServiceClientObserver {
  /** Call it when a request is sent: it is in flight until `closed`. */
  begin(): ObservedServiceRequest;
  /** Call it for a request that is not sent, instead of `begin`. */
  refuse(error: AppError): void;
}

interface ObservedServiceRequest {
  /** The head of the response is received. */
  responded(status: number): void;
  /** There is no response; `closed` has to be called too. */
  failed(error: unknown): void;
  /** The body has ended, completely or not, or there is no response. */
  closed(): void;
}

/** @returns the observer of each service, by its name in the route table; undefined if metrics are off. */
export function createServiceObservers(
  metrics: Metrics<typeof restMetrics>,
): ((service: string) => ServiceClientObserver) | undefined {
  if (!metrics.isOn) return undefined;
  const requests = metrics.counter("tributary_rest_service_requests_total");
  const seconds = metrics.histogram("tributary_rest_service_request_duration_seconds");
  const byService = new Map<string, Counts>();
  metrics.gauge("tributary_rest_service_requests_in_flight").onScrape((gauge) => {
    for (const [service, { inFlight }] of byService) gauge.set({ service }, inFlight);
  });

  return (service) => {
    const counts: Counts = {
      inFlight: 0,
      seconds: seconds.of({ service }),
      ok: requests.of({ service, outcome: "ok" }),
      failed: (outcome) => requests.add({ service, outcome }),
    };
    byService.set(service, counts);
    return { begin: () => new CountedRequest(counts), refuse: ({ code }) => counts.failed(code) };
  };
}

interface Counts {
  inFlight: number;
  readonly seconds: HistogramSeries;
  readonly ok: CounterSeries;
  failed(outcome: string): void;
}

class CountedRequest implements ObservedServiceRequest {
  readonly #counts: Counts;
  readonly #startedAtMs = performance.now();

  constructor(counts: Counts) {
    this.#counts = counts;
    counts.inFlight++;
  }

  responded(status: number): void {
    this.#counts.seconds.observe((performance.now() - this.#startedAtMs) / 1_000);
    if (status < 500) this.#counts.ok.add();
    else this.#counts.failed("5xx");
  }

  failed(error: unknown): void {
    this.#counts.seconds.observe((performance.now() - this.#startedAtMs) / 1_000);
    this.#counts.failed(codeOf(error));
  }

  closed(): void {
    this.#counts.inFlight--;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return error instanceof ClientDisconnected ? "CLIENT_DISCONNECTED" : "INTERNAL_SERVER_ERROR";
}
