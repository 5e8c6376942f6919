// Stage 4 of 5: run. What became of each request of a plan, for a developer. Exists only for a request with `X-Query-Plan` in development.
import type { CompiledFetch, CompiledPlan, CompiledRequest, RequestPart } from "../plan/compile/compiled-plan.ts";
import type { FetchResult } from "./fetch/subgraph-response.ts";

/**
 * `cached`: nothing was sent, since the entity cache had everything. `shared`: an equal request was in flight, or had been sent for this operation.
 * `split`: the subgraph rejects the whole document, so its parts are sent singly. `skipped`: no object needs it, or an earlier mutation failed.
 */
export type FetchOutcome = "sent" | "retried" | "cached" | "shared" | "split" | "skipped" | "failed";

/** `subgraph` and `outcome` are named as the attributes of spans. */
export interface FetchReport {
  readonly subgraph: string;
  readonly outcome: FetchOutcome;
  /** The code of a failed request. */
  readonly code?: string | undefined;
  /** In the response of the subgraph. */
  readonly errors?: number;
  /** Indexes in the plan of what it fetched. */
  readonly fetches: readonly number[];
  /** Indexes of the fetches that it waited for. */
  readonly after: readonly number[];
  /** Where its data belongs in the response to the client, without list indexes. */
  readonly paths: readonly string[];
  readonly operation: string;
  /** Representations; undefined for root fields. */
  readonly entities?: number | undefined;
  /** `entity cache` if the cache had a part. Undefined if nothing was sent. */
  readonly replica?: string | undefined;
  readonly attempts: number;
  /** Since the first fetch could be sent. */
  readonly startMilliseconds: number;
  readonly milliseconds: number;
  /** Of the decompressed responses. */
  readonly bytes: number;
}

/** The layers of a fetch add to it. */
export interface FetchProgress {
  /** The entity cache can send two. */
  requests: number;
  attempts: number;
  bytes: number;
  isShared: boolean;
}

type Unplaced = Omit<FetchReport, "after" | "paths"> & { readonly request: CompiledRequest };

export class FetchReports {
  readonly #startedMs = performance.now();
  readonly #reports: Unplaced[] = [];

  /** @param outcome of a request that is not sent. */
  addUnsent(request: CompiledRequest, outcome: "split" | "skipped"): void {
    this.#add(request, createProgress(), performance.now(), { outcome });
  }

  /** @param send with its progress. @param needsSplit whether its parts are sent after this result. */
  async observe(
    request: CompiledRequest,
    entities: number | undefined,
    send: (progress: FetchProgress) => Promise<FetchResult>,
    needsSplit: (result: FetchResult) => boolean,
  ): Promise<FetchResult> {
    const progress = createProgress();
    const startedMs = performance.now();
    const result = await send(progress);
    const isResponse = result.kind === "graphql";
    this.#add(request, progress, startedMs, {
      outcome: needsSplit(result) ? "split" : outcomeOf(result, progress),
      code: isResponse ? undefined : result.code,
      ...(isResponse && result.errors.length > 0 ? { errors: result.errors.length } : {}),
      entities,
      replica: result.kind === "abandoned" ? undefined : result.replica,
    });
    return result;
  }

  /** In the order in which the requests started. */
  list(plan: CompiledPlan): readonly FetchReport[] {
    const afterOf = listAfter(plan);
    return this.#reports
      .toSorted((a, b) => a.startMilliseconds - b.startMilliseconds)
      .map(({ request: { fetches }, ...report }) => ({
        ...report,
        after: [...new Set(fetches.flatMap(({ joinIndex }) => afterOf.get(joinIndex) ?? []))],
        paths: fetches.flatMap(({ paths }) =>
          paths.map((path) => plan.root.toClientPath(path.map(({ key }) => key)).join(".")),
        ),
      }));
  }

  #add(
    request: CompiledRequest,
    { attempts, bytes }: FetchProgress,
    startedMs: number,
    outcome: Pick<FetchReport, "outcome" | "code" | "errors" | "entities" | "replica">,
  ): void {
    const { query } = JSON.parse(`${request.currentText().head}}`) as { readonly query: string };
    this.#reports.push({
      request,
      subgraph: request.service,
      ...outcome,
      fetches: request.fetches.map(({ joinIndex }) => joinIndex),
      operation: query,
      attempts,
      startMilliseconds: round(startedMs - this.#startedMs),
      milliseconds: round(performance.now() - startedMs),
      bytes,
    });
  }
}

function createProgress(): FetchProgress {
  return { requests: 0, attempts: 0, bytes: 0, isShared: false };
}

function outcomeOf(result: FetchResult, { requests, attempts, isShared }: FetchProgress): FetchOutcome {
  if (result.kind !== "graphql") return "failed";
  if (isShared) return "shared";
  if (requests === 0) return "cached";
  return attempts > requests ? "retried" : "sent";
}

/** By fetch: the fetches of the parts that its own part waits for. */
function listAfter({ parts }: CompiledPlan): ReadonlyMap<number, readonly number[]> {
  const afterOf = new Map<number, readonly number[]>();
  const indexesOf = ({ request, members }: RequestPart) =>
    request.fetches.filter((fetch) => hasMember(fetch, members)).map(({ joinIndex }) => joinIndex);
  for (const part of parts) {
    const next = part.next.flatMap((index) => parts[index] ?? []);
    for (const later of next.flatMap(indexesOf))
      afterOf.set(later, [...(afterOf.get(later) ?? []), ...indexesOf(part)]);
  }
  return afterOf;
}

function hasMember(fetch: CompiledFetch, members: readonly number[]): boolean {
  return fetch.members.some((member) => members.includes(member));
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
