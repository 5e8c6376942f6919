// Stage 4 of 5: run. What became of each request of a plan, for a developer. Exists only for a request with `X-Query-Plan` in development.
import { scrubText } from "@tributary/kit/errors/scrub";
import { Kind, parse, print, stripIgnoredCharacters, visit } from "graphql";
import type { CompiledPlan, CompiledRequest } from "../../plan/compile/compiled-plan.ts";
import type { FetchResult } from "./subgraph-response.ts";

/**
 * `cached`: nothing was sent, since the entity cache had everything. `shared`: an equal request was in flight, or had been sent for this operation,
 * or its entities were in the request of another client.
 * `split`: the subgraph rejects the whole document, so its parts are sent singly. `skipped`: no object needs it, or an earlier mutation failed.
 */
type Outcome = "sent" | "retried" | "cached" | "shared" | "split" | "skipped" | "failed";

/** `subgraph` and `outcome` are named as the attributes of spans. */
export interface FetchReport {
  readonly subgraph: string;
  readonly outcome: Outcome;
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
  /** With `literalMark` in the place of each literal. */
  readonly operation: string;
  /** Representations; undefined for root fields. */
  readonly entities?: number | undefined;
  /** Several if the entity cache sent several requests, `entity cache` if it sent none. Undefined if nothing was sent. */
  readonly replica?: string | undefined;
  readonly attempts: number;
  /** Of each attempt that got no response, or one with status 5xx: its replica, and the reason. */
  readonly failedAttempts?: readonly string[];
  /** Why no attempt was made, such as an open breaker. */
  readonly notSent?: string;
  /** Since the client's request arrived. */
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
  readonly failedAttempts: string[];
  bytes: number;
  isShared: boolean;
}

/** A literal of the client's document can be personal data, as a variable can. */
const literalMark = "…";

type Unplaced = Omit<FetchReport, "after" | "paths"> & { readonly request: CompiledRequest };

export class FetchReports {
  readonly #arrivedMs: number;
  readonly #reports: Unplaced[] = [];

  constructor(arrivedMs: number) {
    this.#arrivedMs = arrivedMs;
  }

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
      ...describeUnsent(result, progress),
    });
    return result;
  }

  /** In the order in which the requests started. */
  list(plan: CompiledPlan): readonly FetchReport[] {
    const afterOf = listAfter(plan);
    return this.#reports
      .toSorted((a, b) => a.startMilliseconds - b.startMilliseconds)
      .map(({ request, ...report }) => ({
        ...report,
        after: [...new Set(listMembers(request).flatMap(({ key }) => afterOf.get(key) ?? []))],
        paths: request.fetches.flatMap(({ paths }) =>
          paths.map((path) => plan.root.toClientPath(path.map(({ key }) => key)).join(".")),
        ),
      }));
  }

  #add(
    request: CompiledRequest,
    { attempts, failedAttempts, bytes }: FetchProgress,
    startedMs: number,
    outcome: Pick<FetchReport, "outcome" | "code" | "errors" | "entities" | "replica" | "notSent">,
  ): void {
    const { query } = JSON.parse(`${request.currentText().head}}`) as { readonly query: string };
    this.#reports.push({
      request,
      subgraph: request.service,
      ...outcome,
      fetches: request.fetches.map(({ joinIndex }) => joinIndex),
      operation: hideLiterals(query),
      attempts,
      ...(failedAttempts.length > 0 ? { failedAttempts } : {}),
      startMilliseconds: round(startedMs - this.#arrivedMs),
      milliseconds: round(performance.now() - startedMs),
      bytes,
    });
  }
}

function createProgress(): FetchProgress {
  return { requests: 0, attempts: 0, failedAttempts: [], bytes: 0, isShared: false };
}

/** The cause is of the gateway or its HTTP client: there is no response. */
function describeUnsent(result: FetchResult, { attempts, isShared }: FetchProgress): Pick<FetchReport, "notSent"> {
  if (result.kind !== "failed" || attempts > 0 || isShared || !(result.cause instanceof Error)) return {};
  return { notSent: scrubText(result.cause.message) };
}

function hideLiterals(query: string): string {
  const hide = () => ({ kind: Kind.STRING, value: literalMark });
  return stripIgnoredCharacters(print(visit(parse(query), { IntValue: hide, FloatValue: hide, StringValue: hide })));
}

function outcomeOf(result: FetchResult, { requests, attempts, isShared }: FetchProgress): Outcome {
  if (result.kind !== "graphql") return "failed";
  if (isShared) return "shared";
  if (requests === 0) return "cached";
  return attempts > requests ? "retried" : "sent";
}

/** By fetch and member, since the members of a fetch can be sent apart: the fetches of the parts that its part waits for. */
function listAfter({ parts }: CompiledPlan): ReadonlyMap<string, readonly number[]> {
  const afterOf = new Map<string, readonly number[]>();
  for (const part of parts) {
    const earlier = listMembers(part.request, part.members).map(({ joinIndex }) => joinIndex);
    const next = part.next.flatMap((index) => parts[index] ?? []);
    for (const { key } of next.flatMap(({ request, members }) => listMembers(request, members)))
      afterOf.set(key, [...(afterOf.get(key) ?? []), ...earlier]);
  }
  return afterOf;
}

/** @param of all members without it. */
function listMembers({ fetches }: CompiledRequest, of?: readonly number[]) {
  return fetches.flatMap(({ joinIndex, members }) =>
    members
      .filter((member) => of === undefined || of.includes(member))
      .map((member) => ({ joinIndex, key: `${joinIndex} ${member}` })),
  );
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
