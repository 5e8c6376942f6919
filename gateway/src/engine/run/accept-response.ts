// Stage 4 of 5: run. Joins the data of a response to the objects that the fetch was for, and records the field errors of missing data. run.ts calls
// it once for each fetch that was sent.
import type { Json } from "@tributary/kit/json/json";
import { Kind } from "graphql";
import type { CompiledFetch, CompiledPlan, DataJoin, DataJoins } from "../plan/compile/compiled-plan.ts";
import { readEntities, type SentFetch } from "./entities.ts";
import { createFailureReports, type FailedResult, type FailureReportOptions } from "./failure-reports.ts";
import { createFieldErrorRecorder, type FieldError, type FieldErrorRecorder } from "./field-errors.ts";
import { combineJoins, joinEntities, joinToAll, type SourceDataJoin } from "./data-joins.ts";
import { memoizeBySource, type MemoSource } from "./caching/memoize-by-source.ts";
import { type MergeRules, mergeCopy } from "./merge.ts";
import type { RepresentationSet } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { FetchResult, GraphqlResponse, ResponsePath, SubgraphError } from "./fetch/subgraph-response.ts";
import { type VisitBudget, visitTargets } from "./targets.ts";

/** The state of one request's run. Each accepted response adds to `root` or `dataJoins`, and to `fieldErrors`. */
export interface RunState {
  readonly plan: CompiledPlan;
  readonly scope: RequestScope;
  readonly visits?: VisitBudget | undefined;
  /** Empty unless the plan is merged. */
  readonly root: Record<string, unknown>;
  readonly dataJoins: (SourceDataJoin | undefined)[];
  lacksEntities: boolean;
  readonly fieldErrors: FieldError[];
  /** Becomes false with the first response that is not shared, not complete or not valid (`RunResult.mayMemoize`). */
  mayMemoize: boolean;
}

export interface AcceptOptions extends FailureReportOptions {
  readonly mergeRules: MergeRules;
}

/**
 * Computes a value once for all client requests with the same sources, as long as the run is shared.
 * @param sources undefined ones are left out; without any, `compute` is called for each request.
 */
export function memoizeIfShared<Value>(
  sources: readonly (MemoSource | undefined)[],
  key: object,
  run: { readonly mayMemoize: boolean },
  compute: () => Value,
): Value {
  if (!run.mayMemoize) return compute();
  const [first, ...others] = sources.filter((source) => source !== undefined);
  return first ? memoizeBySource([first, ...others], key, compute) : compute();
}

/**
 * @param result of the whole subgraph request.
 * @returns false unless the response is complete and valid; nothing is joined then.
 */
export function acceptComplete(result: FetchResult, sent: SentFetch, run: RunState, o: AcceptOptions): boolean {
  const { fetch, representations } = sent;
  const join = memoizeIfShared([result, representations], fetch, run, () => readComplete(result, sent, run.dataJoins));
  if (!join) return false;
  storeJoin(join, fetch, run, o);
  return true;
}

function readComplete(result: FetchResult, sent: SentFetch, dataJoins: DataJoins): SourceDataJoin | undefined {
  const { fetch, representations } = sent;
  const response = responsePartFor(fetch, result);
  if (response.kind !== "graphql" || response.errors.length > 0 || !response.data) return undefined;
  if (!representations) return joinToAll(response.data);
  const returned = readEntities(sent, representations, response.data, dataJoins);
  return returned?.rejected.length === 0 ? joinEntities(representations, returned.entities) : undefined;
}

export function acceptIncomplete(result: FetchResult, sent: SentFetch, run: RunState, o: AcceptOptions): void {
  run.mayMemoize = false;
  const { fetch, representations } = sent;
  const response = withoutNullEntities(responsePartFor(fetch, result), representations);
  const recorder = createFieldErrorRecorder(
    fetch,
    { ...run, position: run.plan.root },
    representations,
    run.plan.fetches,
  );
  let join: SourceDataJoin | undefined;
  if (response.kind === "graphql") {
    recordErrors(response, sent, recorder);
    const reports = createFailureReports(o, fetch.service, run.scope);
    const onInvalid = (paths: readonly ResponsePath[]) => reports.invalid(paths, response.replica);
    if (response.data) join = readUsablePart(response.data, sent, run.dataJoins, recorder, onInvalid);
  } else {
    const retryAfterSeconds = response.kind === "abandoned" ? undefined : response.retryAfterSeconds;
    recorder.addForAll({ kind: "fetch-failed", code: response.code, retryAfterSeconds });
  }
  // The objects that were left out have no error yet. In a merged plan, stage 5 reports their absent fields.
  if (!join && representations?.leftOut && !run.plan.isMerged) join = joinEntities(representations, []);
  if (join) storeJoin(join, fetch, run, o);
  run.fieldErrors.push(...recorder.finish());
}

/** @returns undefined if the list of entities is unusable. */
function readUsablePart(
  data: Json,
  sent: SentFetch,
  dataJoins: DataJoins,
  recorder: FieldErrorRecorder,
  onInvalid: (paths: readonly ResponsePath[]) => void,
): SourceDataJoin | undefined {
  const { representations } = sent;
  if (!representations) return joinToAll(data);
  const returned = readEntities(sent, representations, data, dataJoins);
  const reason = { kind: "fetch-failed", code: "SUBGRAPH_INVALID_RESPONSE" } as const;
  if (!returned) {
    onInvalid([["_entities"]]);
    recorder.addForAll(reason);
    return undefined;
  }
  const { entities, rejected } = returned;
  onInvalid(rejected.map((index) => ["_entities", index]));
  for (const index of rejected) recorder.addAt(["_entities", index], reason);
  return joinEntities(representations, entities);
}

export function storeJoin(join: SourceDataJoin, fetch: CompiledFetch, run: RunState, o: AcceptOptions): void {
  if (run.plan.isMerged) return mergeIntoTargets(fetch, run, o, join);
  const { dataJoins } = run;
  // Sent for other positions before (`CompiledRequest.subset`).
  const earlier = dataJoins[fetch.joinIndex];
  const combine = () => combineJoins(earlier as SourceDataJoin, join);
  dataJoins[fetch.joinIndex] = earlier ? memoizeIfShared([earlier, join], fetch, run, combine) : join;
}

function mergeIntoTargets(fetch: CompiledFetch, run: RunState, o: AcceptOptions, join: DataJoin): void {
  const targets = new Set<Record<string, unknown>>(join.targets);
  if (!join.targets) visitTargets({ ...run, position: run.plan.root }, fetch.paths, (object) => targets.add(object));
  for (const target of targets) {
    if (join.leftOut?.has(target)) continue;
    const data = join.find(target);
    if (data) mergeCopy(target, data, fetch.renames, o.mergeRules);
    else run.lacksEntities = true;
  }
}

/** Of a request with several fetches. */
const entitiesKeyPattern = /^_entities\d+$/;

/** As if the fetch had been sent alone: its entities, the errors in them, and the errors at no entities of the request. */
function responsePartFor({ representationPlan }: CompiledFetch, result: FetchResult): FetchResult {
  if (result.kind !== "graphql" || !representationPlan || representationPlan.entitiesKey === "_entities") return result;
  const { entitiesKey } = representationPlan;
  const { data, errors, replica } = result;
  const isOfFetch = ([first]: ResponsePath = []) => first === entitiesKey || !entitiesKeyPattern.test(String(first));
  const errorsOfFetch = errors.filter(({ path }) => isOfFetch(path));
  // Without data, an error elsewhere is a reason for this fetch too.
  const ownErrors = data || errorsOfFetch.length > 0 ? errorsOfFetch : errors;
  return {
    kind: "graphql",
    data: data && { _entities: data[entitiesKey] ?? null },
    errors: ownErrors.map((error) => ({
      ...error,
      path: error.path?.[0] === entitiesKey ? ["_entities", ...error.path.slice(1)] : undefined,
    })),
    replica,
  };
}

/** Errors without a list of entities count as `data: null`: they are the reason. */
function withoutNullEntities(
  result: FetchResult,
  representations: RepresentationSet | undefined,
): FailedResult | GraphqlResponse {
  if (result.kind !== "graphql" || result.errors.length === 0 || !representations) return result;
  return Array.isArray(result.data?.["_entities"]) ? result : { ...result, data: null };
}

/** Without data, the first error that has no usable path is recorded for every field, and all others are left out. */
function recordErrors({ data, errors }: GraphqlResponse, sent: SentFetch, recorder: FieldErrorRecorder): void {
  const generalError = errors.find(({ path }) => !isUsablePath(path, sent));
  if (!data && generalError) return recorder.addForAll({ kind: "subgraph-error", error: generalError });
  for (const error of errors) {
    const path = isUsablePath(error.path, sent) ? error.path : undefined;
    recorder.addAt(path, { kind: "subgraph-error", error });
  }
  if (!data) recordUnreportedFields(sent, errors, recorder);
}

/** In an entity fetch `["_entities", index, …]`; only the index is checked. */
function isUsablePath(path: ResponsePath | undefined, { representations }: SentFetch): boolean {
  if (path === undefined || path.length === 0) return false;
  return representations === undefined || typeof path[1] === "number";
}

/** A null that propagated to `data` also removed fields that no error names. */
function recordUnreportedFields(
  { fetch, representations }: SentFetch,
  errors: readonly SubgraphError[],
  recorder: FieldErrorRecorder,
): void {
  const [firstError] = errors;
  if (!firstError) return;
  const namingStep = representations ? 1 : 0;
  const reported = new Set(errors.map(({ path }) => String(path?.[namingStep])));
  const paths: readonly ResponsePath[] = representations
    ? representations.firstObjects.map((_, i) => ["_entities", i])
    : rootKeys(fetch).map((key) => [key]);
  for (const path of paths) {
    const isReported = reported.has(String(path[namingStep]));
    if (!isReported) recorder.addAt(path, { kind: "subgraph-error", error: firstError });
  }
}

export function rootKeys({ selected }: CompiledFetch): readonly string[] {
  return selected.selections.flatMap((field) => (field.kind === Kind.FIELD ? (field.alias ?? field.name).value : []));
}
