import { AppError } from "@tributary/kit/errors/app-error";
import type { restMetrics } from "@tributary/kit/telemetry/metrics/metric-declarations";
import type { CounterSeries, HistogramSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import { ClientDisconnected } from "../errors/errors.ts";

/** Counts what is asked of one service; there is none where nobody asks for it. */
export interface ServiceObserver {
  begin(): AskedService;
  /** It is not even asked. */
  refuse(error: AppError): void;
}

interface AskedService {
  /** The head of the answer is there. */
  answered(status: number): void;
  /** There is no answer. */
  failed(error: unknown): void;
  /** All of it is over. */
  closed(): void;
}

/** @returns the observer of each service, by its name in the route table; undefined where nothing is counted. */
export function createServiceObservers(
  metrics: Metrics<typeof restMetrics>,
): ((service: string) => ServiceObserver) | undefined {
  if (!metrics.isOn) return undefined;
  const requests = metrics.counter("tributary_rest_service_requests_total");
  const seconds = metrics.histogram("tributary_rest_service_request_duration_seconds");
  const byService = new Map<string, Counts>();
  metrics.gauge("tributary_rest_service_requests_in_flight").onScrape((gauge) => {
    for (const [service, { underWay }] of byService) gauge.set({ service }, underWay);
  });

  return (service) => {
    const counts: Counts = {
      underWay: 0,
      seconds: seconds.of({ service }),
      ok: requests.of({ service, outcome: "ok" }),
      failed: (outcome) => requests.add({ service, outcome }),
    };
    byService.set(service, counts);
    return { begin: () => new Asked(counts), refuse: ({ code }) => counts.failed(code) };
  };
}

interface Counts {
  underWay: number;
  readonly seconds: HistogramSeries;
  readonly ok: CounterSeries;
  failed(outcome: string): void;
}

class Asked implements AskedService {
  readonly #counts: Counts;
  readonly #begunMs = performance.now();

  constructor(counts: Counts) {
    this.#counts = counts;
    counts.underWay++;
  }

  answered(status: number): void {
    this.#counts.seconds.observe((performance.now() - this.#begunMs) / 1_000);
    if (status < 500) this.#counts.ok.add();
    else this.#counts.failed("5xx");
  }

  failed(error: unknown): void {
    this.#counts.seconds.observe((performance.now() - this.#begunMs) / 1_000);
    this.#counts.failed(codeOf(error));
  }

  closed(): void {
    this.#counts.underWay--;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  return error instanceof ClientDisconnected ? "CLIENT_GONE" : "INTERNAL_SERVER_ERROR";
}
