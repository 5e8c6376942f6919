// Stage 4 of 5: fetch it. What came of one fetch is joined to the objects it is about; what did not come is recorded, place by place.
import { Kind, type SelectionSetNode } from "graphql";
import type { CompiledFetch, CompiledPlan, Join, Joins } from "../plan/compile/compiled-plan.ts";
import { derive, type Source } from "./memoize-by-source.ts";
import { readEntities } from "./entities.ts";
import { joinEntities, joinToAll, type SourceJoin } from "./joins.ts";
import { createLossRecorder, type FieldLoss, type LossRecorder } from "./field-errors.ts";
import { type MergeRules, mergeCopy } from "./merge.ts";
import { createReport, type FailedAnswer, type ReportOptions } from "./failure-log.ts";
import type { RepresentationSet } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { AskedAnswer, Path, SubgraphAnswer, SubgraphError } from "./subgraph-response.ts";
import { visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;
type GraphqlAnswer = Extract<SubgraphAnswer, { kind: "graphql" }>;

/** What grows while a plan is followed. */
export interface RunData {
  readonly plan: CompiledPlan;
  readonly scope: RequestScope;
  /** Of a merged tree; else an object that answers are joined to. */
  readonly root: Record<string, unknown>;
  readonly joins: (SourceJoin | undefined)[];
  readonly losses: FieldLoss[];
  /** So far; see RunResult. */
  isShared: boolean;
}

export interface TakeOptions extends ReportOptions {
  readonly mergeRules: MergeRules;
}

export interface Fetched {
  readonly fetch: CompiledFetch;
  readonly representations: RepresentationSet | undefined;
}

/** What `make` gives; while all of a run is shared it is made once for all who have the same. */
export function deriveFrom<Value>(
  sources: readonly (Source | undefined)[],
  by: object,
  { isShared }: Pick<RunData, "isShared">,
  make: () => Value,
): Value {
  if (!isShared) return make();
  const [first, ...others] = sources.filter((source) => source !== undefined);
  return first ? derive([first, ...others], by, make) : make();
}

/** Joins what came, and records what was lost. `came` is the answer to the whole request. */
export function take(came: AskedAnswer, fetched: Fetched, run: RunData, o: TakeOptions): void {
  const { fetch, representations } = fetched;
  const whole = deriveFrom([came, representations], fetch, run, () => readWhole(came, fetched, run.joins));
  if (whole) return place(whole, fetch, run, o);
  run.isShared = false;
  takeInPart(came, fetched, run, o);
}

/** Undefined when something is missing, or has to be refused. */
function readWhole(came: AskedAnswer, { fetch, representations }: Fetched, joins: Joins): SourceJoin | undefined {
  const answer = findOwnPart(came, fetch);
  if (answer.kind !== "graphql" || answer.errors.length > 0 || !answer.data) return undefined;
  if (!representations) return joinToAll(answer.data);
  const refused: number[] = [];
  const entities = readEntities(fetch, representations, answer.data, joins, (index) => void refused.push(index));
  return entities && refused.length === 0 ? joinEntities(representations, entities) : undefined;
}

function takeInPart(came: AskedAnswer, fetched: Fetched, run: RunData, o: TakeOptions): void {
  const { fetch, representations } = fetched;
  const answer = withoutEmptyData(findOwnPart(came, fetch), representations);
  const losses = createLossRecorder(fetch, { ...run, position: run.plan.root }, representations);
  if (answer.kind === "graphql") {
    recordErrors(answer, fetched, losses);
    const report = createReport(o, fetch.service, run.scope);
    const onMisshapen = (paths: readonly Path[]) => report.misshapen(paths, answer.replica);
    const rest = answer.data && readRest(answer.data, fetched, run.joins, losses, onMisshapen);
    if (rest) place(rest, fetch, run, o);
  } else losses.loseAll({ kind: "fetch-failed", code: answer.code });
  run.losses.push(...losses.finish());
}

/** What of it is right. */
function readRest(
  data: Json,
  { fetch, representations }: Fetched,
  joins: Joins,
  losses: LossRecorder,
  onMisshapen: (paths: readonly Path[]) => void,
): SourceJoin | undefined {
  if (!representations) return joinToAll(data);
  const refused: number[] = [];
  const entities = readEntities(fetch, representations, data, joins, (index) => void refused.push(index));
  const reason = { kind: "fetch-failed", code: "SUBGRAPH_BAD_ANSWER" } as const;
  if (!entities) {
    onMisshapen([["_entities"]]);
    losses.loseAll(reason);
    return undefined;
  }
  onMisshapen(refused.map((index) => ["_entities", index]));
  for (const index of refused) losses.lose(["_entities", index], reason);
  return joinEntities(representations, entities);
}

function place(join: SourceJoin, fetch: CompiledFetch, run: RunData, o: TakeOptions): void {
  if (run.plan.isMerged) mergeIntoTargets(fetch, run, o, join);
  else run.joins[fetch.slot] = join;
}

function mergeIntoTargets(fetch: CompiledFetch, run: RunData, o: TakeOptions, join: Join): void {
  const targets = new Set<Record<string, unknown>>();
  visitTargets({ ...run, position: run.plan.root }, fetch.paths, (object) => void targets.add(object));
  for (const target of targets) {
    mergeCopy(target, join.find(target) ?? nullsOf(fetch.selected), fetch.renames, o.mergeRules);
  }
}

/** Of an entity that is not there the fields are null; they are not missing. */
function nullsOf({ selections }: SelectionSetNode): Json {
  const nulls = selections.map((selection): Json => {
    if (selection.kind === Kind.INLINE_FRAGMENT) return nullsOf(selection.selectionSet);
    if (selection.kind !== Kind.FIELD || selection.name.value === "__typename") return {};
    return { [(selection.alias ?? selection.name).value]: null };
  });
  return Object.assign({}, ...nulls);
}

/**
 * What of a request's answer is about one of its fetches, as if it had been sent alone: its entities, the errors in them, and the errors
 * without a place.
 */
function findOwnPart(answer: AskedAnswer, { representations }: CompiledFetch): AskedAnswer {
  if (answer.kind !== "graphql" || !representations || representations.entitiesKey === "_entities") return answer;
  const { entitiesKey } = representations;
  const { data, errors, replica } = answer;
  const own = errors.filter(({ path }) => path === undefined || path.length === 0 || path[0] === entitiesKey);
  return {
    kind: "graphql",
    data: data && { _entities: data[entitiesKey] ?? null },
    errors: own.map(({ path, ...error }) => ({ ...error, path: path && ["_entities", ...path.slice(1)] })),
    replica,
  };
}

/** `_entities: null` beside errors is no data at all. */
function withoutEmptyData(
  answer: AskedAnswer,
  representations: RepresentationSet | undefined,
): FailedAnswer | GraphqlAnswer {
  if (answer.kind !== "graphql" || answer.errors.length === 0 || !representations) return answer;
  return Array.isArray(answer.data?.["_entities"]) ? answer : { ...answer, data: null };
}

/** An error with a place stands there; one without stands for everything, when nothing came. */
function recordErrors({ data, errors }: GraphqlAnswer, fetched: Fetched, losses: LossRecorder): void {
  const placeless = errors.find(({ path }) => !isPlace(path, fetched));
  if (!data && placeless) return losses.loseAll({ kind: "subgraph-error", error: placeless });
  for (const error of errors) {
    losses.lose(isPlace(error.path, fetched) ? error.path : undefined, { kind: "subgraph-error", error });
  }
  const [first] = errors;
  if (!data && first) loseUntold(fetched, errors, losses);
}

/** In an entity fetch a place begins `["_entities", index]`; less says nothing. */
function isPlace(path: Path | undefined, { representations }: Fetched): boolean {
  return path !== undefined && path.length > 0 && (representations === undefined || typeof path[1] === "number");
}

/** A null that rose through the whole answer took fields with it that no error names. */
function loseUntold({ fetch, representations }: Fetched, errors: readonly SubgraphError[], losses: LossRecorder): void {
  const [error] = errors;
  if (!error) return;
  const told = new Set(errors.map(({ path }) => String(path?.[representations ? 1 : 0])));
  const places: readonly Path[] = representations
    ? representations.examples.map((_, i) => ["_entities", i])
    : rootKeys(fetch).map((key) => [key]);
  for (const place of places) {
    if (!told.has(String(place.at(-1)))) losses.lose(place, { kind: "subgraph-error", error });
  }
}

function rootKeys({ selected }: CompiledFetch): readonly string[] {
  return selected.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? (selection.alias ?? selection.name).value : [],
  );
}
