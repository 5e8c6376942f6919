import { AppError } from "@tributary/kit/errors/app-error";
import { DeadlinePassed } from "@tributary/kit/http/abort-source";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/declarations/rest-proxy-metrics";
import type { CounterSeries, HistogramSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import { ClientDisconnected } from "../errors/service-failure.ts";

export interface ServiceClientObserver {
  /** Call it when a request is sent: it is in flight until `closed`. */
  begin(): CountedRequest;
  /** Call it for a request that is not sent, instead of `begin`. */
  refuse(error: AppError): void;
}

/** @returns the observer of each service, by its name in the route table; undefined if metrics are off. */
export function createServiceObservers(
  metrics: Metrics<typeof restMetrics>,
): ((service: string) => ServiceClientObserver) | undefined {
  if (!metrics.isOn) return undefined;
  const requests = metrics.counter("tributary_rest_service_requests_total");
  const durations = metrics.histogram("tributary_rest_service_request_duration_seconds");
  const countsByService = new Map<string, ServiceCounts>();
  metrics.gauge("tributary_rest_service_requests_in_flight").onScrape((gauge) => {
    for (const [service, { inFlight }] of countsByService) gauge.set({ service }, inFlight);
  });

  return (service) => {
    const counts: ServiceCounts = {
      inFlight: 0,
      durations: durations.of({ service }),
      successes: requests.of({ service, outcome: "ok" }),
      countFailure: (outcome) => requests.add({ service, outcome }),
    };
    countsByService.set(service, counts);
    return { begin: () => new CountedRequest(counts), refuse: ({ code }) => counts.countFailure(code) };
  };
}

interface ServiceCounts {
  inFlight: number;
  readonly durations: HistogramSeries;
  readonly successes: CounterSeries;
  /** @param outcome the label: an error code, or `5xx`. */
  countFailure(outcome: string): void;
}

class CountedRequest {
  readonly #counts: ServiceCounts;
  readonly #startedAtMs = performance.now();

  constructor(counts: ServiceCounts) {
    this.#counts = counts;
    counts.inFlight++;
  }

  responded(status: number): void {
    this.#recordDuration();
    if (status < 500) this.#counts.successes.add();
    else this.#counts.countFailure("5xx");
  }

  /** There is no response; `closed` has to be called too. */
  failed(error: unknown): void {
    this.#recordDuration();
    this.#counts.countFailure(codeOf(error));
  }

  /** The body has ended, completely or not, or there is no response. */
  closed(): void {
    this.#counts.inFlight--;
  }

  #recordDuration(): void {
    this.#counts.durations.observe((performance.now() - this.#startedAtMs) / 1_000);
  }
}

function codeOf(error: unknown): string {
  // Late for the client only.
  if (error instanceof AppError && error.cause instanceof DeadlinePassed) return "CLIENT_DISCONNECTED";
  if (error instanceof AppError) return error.code;
  return error instanceof ClientDisconnected ? "CLIENT_DISCONNECTED" : "INTERNAL_SERVER_ERROR";
}
