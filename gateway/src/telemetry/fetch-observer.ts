// Counts and traces the fetches from subgraphs.
import type { gatewayMetrics } from "@tributary/kit/telemetry/metrics/declarations/gateway-metrics";
import type { Expected } from "@tributary/kit/telemetry/metrics/declarations/metric-declaration";
import type { CounterSeries, HistogramSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { Trace } from "@tributary/kit/telemetry/tracing/trace";
import type { TracedRequest } from "@tributary/kit/upstream/attempt-span";
import { toMaskedCode } from "../errors/codes.ts";
import type { GraphqlRequestRecord } from "./request-record.ts";

interface ErrorEntry {
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Undefined: masked. */
  readonly public: object | undefined;
}

type OutcomeLabel = Expected<typeof gatewayMetrics.tributary_gateway_subgraph_fetches_total, "outcome">;

type ObservedResult =
  | { readonly kind: "graphql"; readonly errors: readonly ErrorEntry[] }
  /** `failed`: no response, or one that is too long or compressed. `unusable`: no usable GraphQL response. Both are counted by their code. */
  | { readonly kind: "failed" | "unusable"; readonly code: OutcomeLabel }
  /** The client disconnected. */
  | { readonly kind: "abandoned" };

export interface FetchObserver {
  /** Starts the observation of a fetch that is sent now. @param record of the client request. */
  begin(service: string, record: GraphqlRequestRecord | undefined): ObservedFetch;
  /** A client request waits for an equal fetch in flight: it is counted as shared, and not as a fetch. */
  share(service: string, record: GraphqlRequestRecord | undefined, result: Promise<unknown>): void;
}

interface ObservedFetch {
  /** The parent span for its attempts; undefined if the request is not traced. */
  readonly traced: TracedRequest | undefined;
  end(result: ObservedResult): void;
}

interface SubgraphCounts {
  inFlightCount: number;
  readonly seconds: HistogramSeries;
  readonly shared: CounterSeries;
  countOutcome(outcome: OutcomeLabel): void;
}

/** One per process. Undefined if metrics and traces are off. */
export function createFetchObserver(metrics: Metrics<typeof gatewayMetrics>, trace: Trace): FetchObserver | undefined {
  if (!metrics.isOn && !trace.isOn) return undefined;
  const countsOf = createSubgraphCounts(metrics);
  return {
    begin: (service, record) => new CountedFetch(countsOf(service), beginSpan(service, record)),
    share(service, record, result) {
      countsOf(service).shared.add();
      const stageSpan = record?.currentSpan;
      if (stageSpan === undefined) return;
      const attributes = { "tributary.subgraph": service, "tributary.shared": true };
      const waitSpan = stageSpan.child(`await ${service}`, { attributes });
      const endSpan = () => waitSpan.end();
      result.then(endSpan, endSpan);
    },
  };
}

/** The metrics of each subgraph. Bounded by the subgraphs of the supergraphs that were served. */
function createSubgraphCounts(metrics: Metrics<typeof gatewayMetrics>): (service: string) => SubgraphCounts {
  const bySubgraph = new Map<string, SubgraphCounts>();
  const fetches = metrics.counter("tributary_gateway_subgraph_fetches_total");
  const seconds = metrics.histogram("tributary_gateway_subgraph_fetch_duration_seconds");
  const shared = metrics.counter("tributary_gateway_subgraph_fetches_shared_total");
  metrics.gauge("tributary_gateway_subgraph_fetches_in_flight").onScrape((gauge) => {
    for (const [subgraph, { inFlightCount }] of bySubgraph) gauge.set({ subgraph }, inFlightCount);
  });

  return (subgraph) => {
    const known = bySubgraph.get(subgraph);
    if (known) return known;
    const counts: SubgraphCounts = {
      inFlightCount: 0,
      seconds: seconds.of({ subgraph }),
      shared: shared.of({ subgraph }),
      countOutcome: (outcome) => fetches.add({ subgraph, outcome }),
    };
    bySubgraph.set(subgraph, counts);
    return counts;
  };
}

function beginSpan(service: string, record: GraphqlRequestRecord | undefined): TracedRequest | undefined {
  const stageSpan = record?.currentSpan;
  if (stageSpan === undefined) return undefined;
  const attributes = { "tributary.subgraph": service };
  const fetchSpan = stageSpan.child(`fetch ${service}`, { attributes });
  return { parent: fetchSpan, name: `attempt ${service}`, attributes };
}

class CountedFetch implements ObservedFetch {
  readonly traced: TracedRequest | undefined;
  readonly #counts: SubgraphCounts;
  readonly #startedMs = performance.now();

  constructor(counts: SubgraphCounts, traced: TracedRequest | undefined) {
    this.#counts = counts;
    this.traced = traced;
    counts.inFlightCount++;
  }

  end(result: ObservedResult): void {
    this.#counts.inFlightCount--;
    if (result.kind === "abandoned") return this.#abandon();
    const outcome = result.kind === "graphql" ? outcomeOf(result.errors) : result.code;
    this.#counts.seconds.observe((performance.now() - this.#startedMs) / 1_000);
    this.#counts.countOutcome(outcome);
    const hasFailed = outcome !== "ok" && outcome !== "errors";
    if (hasFailed) this.traced?.parent.fail(outcome);
    this.traced?.parent.end();
  }

  /** The duration is not observed: the client ended the fetch, not the subgraph. */
  #abandon(): void {
    this.#counts.countOutcome("aborted");
    this.traced?.parent.set("tributary.outcome", "aborted");
    this.traced?.parent.end();
  }
}

/** Errors that are meant for the client are the outcome `errors`. Any other error is a failure of the subgraph, although it responded. */
function outcomeOf(errors: readonly ErrorEntry[]): OutcomeLabel {
  if (errors.length === 0) return "ok";
  const masked = errors.filter((error) => error.public === undefined);
  if (masked.length === 0) return "errors";
  const failures = new Set(masked.map(({ extensions }) => toMaskedCode(extensions["code"])));
  // SUBGRAPH_ERROR is counted if both occur.
  return failures.has("SUBGRAPH_ERROR") ? "SUBGRAPH_ERROR" : "SUBGRAPH_UNAVAILABLE";
}
