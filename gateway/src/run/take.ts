// Stage 4 of 5: fetch it. What came of one fetch is joined to the objects it is about; what did not come is recorded, place by place.
import { Kind, type SelectionSetNode } from "graphql";
import type { CompiledFetch, CompiledPlan, Join } from "../plan/compiled-plan.ts";
import type { Observe } from "../telemetry/observations.ts";
import { readEntities } from "./entities.ts";
import { joinEntities, joinToAll } from "./joins.ts";
import { createLossRecorder, type FieldLoss, type LossRecorder } from "./losses.ts";
import { type MergeRules, mergeCopy } from "./merge.ts";
import { createReport, type FailedAnswer } from "./report.ts";
import type { RepresentationSet } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { AskedAnswer, Path, SubgraphAnswer, SubgraphError } from "./subgraph-answer.ts";
import { visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;
type GraphqlAnswer = Extract<SubgraphAnswer, { kind: "graphql" }>;

/** What grows while a plan is followed. */
export interface RunData {
  readonly plan: CompiledPlan;
  readonly scope: RequestScope;
  /** Of a merged tree; else an object that answers are joined to. */
  readonly root: Record<string, unknown>;
  readonly joins: (Join | undefined)[];
  readonly losses: FieldLoss[];
}

export interface TakeOptions {
  readonly mergeRules: MergeRules;
  readonly observe: Observe;
}

export interface Fetched {
  readonly fetch: CompiledFetch;
  readonly representations: RepresentationSet | undefined;
}

/** Joins what came, and records what was lost. `came` is the answer to the whole request. */
export function take(came: AskedAnswer, fetched: Fetched, run: RunData, o: TakeOptions): void {
  const { fetch, representations } = fetched;
  const answer = withoutEmptyData(findOwnPart(came, fetch), representations);
  if (answer.kind === "graphql" && answer.errors.length === 0 && answer.data) {
    if (join(answer.data, fetched, run, o, undefined)) return;
  }
  const losses = createLossRecorder(fetch, { ...run, position: run.plan.root }, representations);
  if (answer.kind === "graphql") {
    const report = createReport(o.observe, fetch.service, run.scope);
    recordErrors(answer, fetched, losses);
    if (answer.data) join(answer.data, fetched, run, o, { losses, report });
  } else losses.loseAll({ kind: "fetch-failed", code: answer.code });
  run.losses.push(...losses.finish());
}

interface Recording {
  readonly losses: LossRecorder;
  readonly report: ReturnType<typeof createReport>;
}

/**
 * Makes the data part of the run. @returns false, with nothing joined, when something of it had to be refused and nobody is there to
 * record it: then it is called again with `recording`.
 */
function join(
  data: Json,
  { fetch, representations }: Fetched,
  run: RunData,
  o: TakeOptions,
  recording?: Recording,
): boolean {
  if (!representations) {
    if (run.plan.isMerged) mergeIntoTargets(fetch, run, o, () => data);
    else run.joins[fetch.slot] = joinToAll(data);
    return true;
  }
  const refused: number[] = [];
  const entities = readEntities(fetch, representations, data, run.joins, (index) => void refused.push(index));
  if ((!entities || refused.length > 0) && !recording) return false;
  recordRefused(entities ? refused : undefined, recording);
  if (!entities) return true;
  if (run.plan.isMerged) {
    mergeIntoTargets(fetch, run, o, (object) => entities[representations.indexOf(object) ?? -1]);
  } else run.joins[fetch.slot] = joinEntities(representations, entities);
  return true;
}

function mergeIntoTargets(
  fetch: CompiledFetch,
  run: RunData,
  o: TakeOptions,
  find: (object: Json) => Json | undefined,
): void {
  const targets = new Set<Record<string, unknown>>();
  visitTargets({ ...run, position: run.plan.root }, fetch.paths, (object) => void targets.add(object));
  for (const target of targets) {
    mergeCopy(target, find(target) ?? nullsOf(fetch.selected), fetch.renames, o.mergeRules);
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

function recordRefused(refused: readonly number[] | undefined, recording: Recording | undefined): void {
  if (!recording || refused?.length === 0) return;
  const reason = { kind: "fetch-failed", code: "SUBGRAPH_BAD_ANSWER" } as const;
  recording.report.misshapen(refused?.map((index) => ["_entities", index]) ?? [["_entities"]]);
  if (!refused) recording.losses.loseAll(reason);
  else for (const index of refused) recording.losses.lose(["_entities", index], reason);
}

/**
 * What of a request's answer is about one of its fetches, as if it had been sent alone: its entities, the errors in them, and the errors
 * without a place.
 */
function findOwnPart(answer: AskedAnswer, { representations }: CompiledFetch): AskedAnswer {
  if (answer.kind !== "graphql" || !representations || representations.entitiesKey === "_entities") return answer;
  const { entitiesKey } = representations;
  const { data, errors } = answer;
  const own = errors.filter(({ path }) => path === undefined || path.length === 0 || path[0] === entitiesKey);
  return {
    kind: "graphql",
    data: data && { _entities: data[entitiesKey] ?? null },
    errors: own.map(({ path, ...error }) => ({ ...error, path: path && ["_entities", ...path.slice(1)] })),
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
