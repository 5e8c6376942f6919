import type { Expected, gatewayMetrics } from "@tributary/kit/telemetry/metrics/metric-declarations";
import type { CounterSeries, HistogramSeries, Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import type { Trace } from "@tributary/kit/telemetry/tracing/trace";
import type { TracedRequest } from "@tributary/kit/upstream/attempt-span";
import { isClientFacingCode, toClientCode } from "../errors/codes.ts";
import type { RequestRecord } from "./request-record.ts";

interface SubgraphError {
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Values of the label `outcome`. */
type OutcomeLabel = Expected<typeof gatewayMetrics.tributary_gateway_subgraph_fetches_total, "outcome">;

/** What has come of a fetch, as far as it is counted. */
type FetchOutcome =
  | { readonly kind: "graphql"; readonly errors: readonly SubgraphError[] }
  | { readonly kind: "failed" | "unusable"; readonly code: OutcomeLabel }
  /** Its client went away. */
  | { readonly kind: "abandoned" };

/** Counts and traces fetches; there is none where nobody asks for it. */
export interface FetchObserver {
  /** @param record of the request that the fetch is begun for. */
  begin(service: string, record: RequestRecord | undefined): FetchRecord;
  /** A request takes the answer of an equal fetch under way. */
  join(service: string, record: RequestRecord | undefined, answer: Promise<unknown>): void;
}

interface FetchRecord {
  /** What its attempts are spans of; undefined when it is not traced. */
  readonly traced: TracedRequest | undefined;
  end(outcome: FetchOutcome): void;
}

/** What is counted of one subgraph. */
interface ServiceCounts {
  underWay: number;
  readonly seconds: HistogramSeries;
  readonly shared: CounterSeries;
  ended(outcome: OutcomeLabel): void;
}

export function createFetchObserver(metrics: Metrics<typeof gatewayMetrics>, trace: Trace): FetchObserver | undefined {
  if (!metrics.isOn && !trace.isOn) return undefined;
  const countsOf = createServiceCounts(metrics);
  return {
    begin: (service, record) => new Fetch(countsOf(service), beginSpans(service, record)),
    join(service, record, answer) {
      countsOf(service).shared.add();
      if (record?.span === undefined) return;
      const attributes = { "tributary.subgraph": service, "tributary.shared": true };
      const span = record.stage?.child(`await ${service}`, { attributes });
      const end = () => span?.end();
      answer.then(end, end);
    },
  };
}

/** Bounded by the subgraphs of the supergraphs that were served. */
function createServiceCounts(metrics: Metrics<typeof gatewayMetrics>): (service: string) => ServiceCounts {
  const byService = new Map<string, ServiceCounts>();
  const fetches = metrics.counter("tributary_gateway_subgraph_fetches_total");
  const seconds = metrics.histogram("tributary_gateway_subgraph_fetch_duration_seconds");
  const shared = metrics.counter("tributary_gateway_subgraph_fetches_shared_total");
  metrics.gauge("tributary_gateway_subgraph_fetches_in_flight").onScrape((gauge) => {
    for (const [subgraph, { underWay }] of byService) gauge.set({ subgraph }, underWay);
  });

  return (subgraph) => {
    const known = byService.get(subgraph);
    if (known) return known;
    const counts: ServiceCounts = {
      underWay: 0,
      seconds: seconds.of({ subgraph }),
      shared: shared.of({ subgraph }),
      ended: (outcome) => fetches.add({ subgraph, outcome }),
    };
    byService.set(subgraph, counts);
    return counts;
  };
}

function beginSpans(service: string, record: RequestRecord | undefined): TracedRequest | undefined {
  if (record?.span === undefined) return undefined;
  const attributes = { "tributary.subgraph": service };
  const parent = record.stage?.child(`fetch ${service}`, { attributes });
  return parent && { parent, name: `ask ${service}`, attributes };
}

class Fetch implements FetchRecord {
  readonly traced: TracedRequest | undefined;
  readonly #counts: ServiceCounts;
  readonly #begunMs = performance.now();

  constructor(counts: ServiceCounts, traced: TracedRequest | undefined) {
    this.#counts = counts;
    this.traced = traced;
    counts.underWay++;
  }

  end(outcome: FetchOutcome): void {
    this.#counts.underWay--;
    if (outcome.kind === "abandoned") return this.#abandon();
    const word = outcome.kind === "graphql" ? wordOf(outcome.errors) : outcome.code;
    this.#counts.seconds.observe((performance.now() - this.#begunMs) / 1_000);
    this.#counts.ended(word);
    if (word !== "ok" && word !== "errors") this.traced?.parent.fail(word);
    this.traced?.parent.end();
  }

  /** It took as long as its client liked, which says nothing of the subgraph. */
  #abandon(): void {
    this.#counts.ended("aborted");
    this.traced?.parent.set("tributary.outcome", "aborted");
    this.traced?.parent.end();
  }
}

/** A subgraph that rejects for the client's reasons has done its work; one whose database is down has failed, although it responds. */
function wordOf(errors: readonly SubgraphError[]): OutcomeLabel {
  if (errors.length === 0) return "ok";
  const codes = errors.map(({ extensions }) => toClientCode(extensions["code"]));
  const failures = new Set<string>(codes.filter((code) => !isClientFacingCode(code)));
  if (failures.size === 0) return "errors";
  return failures.has("SUBGRAPH_ERROR") ? "SUBGRAPH_ERROR" : "SUBGRAPH_UNAVAILABLE";
}
