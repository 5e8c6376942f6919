// Stage 4 of 5: run. Executes a compiled plan: each fetch is sent as soon as the fetches it depends on are complete.
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import { OperationTypeNode } from "graphql";
import type {
  CompiledFetch,
  CompiledPlan,
  CompiledRequest,
  RequestText,
  PlanStep,
  RepresentationPlan,
} from "../plan/compile/compiled-plan.ts";
import type { StoppedKeyAdditions } from "../plan/compile/key-checks.ts";
import { acceptResponse, type AcceptOptions, memoizeWhileShared, type RunState } from "./accept-response.ts";
import { createFailureReports } from "./failure-reports.ts";
import type { EntityList, ReadParts } from "./cached-fetch.ts";
import type { EntityCache } from "./caching/entity-cache.ts";
import { isRequestedEntity } from "./entities.ts";
import { createFetch, type FetchOptions, type SendFetch } from "./fetch.ts";
import type { FieldError } from "./field-errors.ts";
import { joinToAll, type SourceJoin } from "./joins.ts";
import { type RepresentationSet, writeRepresentations } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { FetchResult } from "./subgraph-response.ts";
import { type ResponseTree, visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;

/** The fetched data. `root` and `joins` are read through the layouts of the plan's positions. */
export interface RunResult {
  readonly root: Json;
  /** By `joinIndex`; the index after the last fetch has the values of introspection fields. A merged plan has no joins of fetches. */
  readonly joins: readonly (SourceJoin | undefined)[];
  readonly fieldErrors: readonly FieldError[];
  /**
   * True if all data came, complete and valid, from responses that other client requests got too, or if nothing was fetched: values that are
   * computed from the data can be memoized. Always false with FETCH_SHARING=false, for a merged plan and with introspection fields.
   */
  readonly isShared: boolean;
}

export interface RunOptions extends FetchOptions, AcceptOptions {
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
  /** Whether, with the data fetched so far, a null in one of the first `fieldCount` root fields propagates to `data`. */
  readonly isDataNull: (plan: CompiledPlan, fetched: Pick<RunResult, "root" | "joins">, fieldCount: number) => boolean;
}

/**
 * Called once per request. Rejects for bugs only.
 * @param introspected values of introspection fields, by their aliases in the plan; undefined if the client selects none.
 */
export type RunStage = (
  plan: CompiledPlan,
  variables: Json,
  scope: RequestScope,
  introspected: Json | undefined,
) => Promise<RunResult>;

interface Run extends RunState {
  readonly variables: Json;
  /** By `RepresentationPlan.group`; each is written when the first fetch of its group is sent. */
  readonly representations: (RepresentationSet | undefined)[];
  readonly fetch: SendFetch;
  /** Undefined if it is off, or if this request must not use it: within a mutation, and with a token that this process has not verified. */
  readonly entityCache: EntityCache | undefined;
}

export function createRunStage(o: RunOptions): RunStage {
  return async (plan, variables, scope, introspected) => {
    const isQuery = plan.kind === OperationTypeNode.QUERY;
    const run: Run = {
      plan,
      variables,
      scope,
      root: {},
      joins: [],
      fieldErrors: [],
      representations: [],
      isShared: o.sharing !== undefined && !plan.isMerged && !introspected,
      fetch: createFetch(o, scope, isQuery),
      entityCache: isQuery && scope.isCallerVerified ? o.entityCache : undefined,
    };
    // The compiled plan reads introspection fields from the join index after those of the fetches.
    if (introspected) run.joins[plan.fetches.length] = joinToAll(introspected);
    // Caches must not store the result of introspection, which changes with the supergraph.
    if (introspected) scope.caching?.add(undefined);
    if (plan.steps) await executeStep(plan.steps, run, o);
    return run;
  };
}

async function executeStep(step: PlanStep, run: Run, o: RunOptions): Promise<void> {
  if (step.kind === "request") return send(step.request, run, o);
  if (step.kind === "parallel") {
    await Promise.all(step.steps.map((child) => executeStep(child, run, o)));
    return;
  }
  // A sequence.
  for (const child of step.steps) await executeStep(child, run, o);
}

/** For each fetch of a request: its representations; undefined for a fetch of root fields. */
type RepresentationSets = readonly (RepresentationSet | undefined)[];

/** Sends one request of the plan, unless there is no object for it, and accepts its response. */
async function send(request: CompiledRequest, run: Run, o: RunOptions): Promise<void> {
  // After an error of a non-null field, the later fields of a mutation are not executed (GraphQL spec, "Handling Execution Errors").
  if (request.rootFieldsBefore > 0 && o.isDataNull(run.plan, run, request.rootFieldsBefore)) return;
  const { service, isMutation, mayRepeat, fetches } = request;
  const sets = fetches.map((fetch) => representationsOf(fetch, run));
  const hasAnyTarget = fetches.some((fetch, i) => hasTarget(fetch, sets[i], run));
  if (!hasAnyTarget) return;
  const cache = run.entityCache?.of(service);
  const post = (text: RequestText) => {
    const body = bodyOf(request, text, sets, run);
    const cacheable = cache && { cache, body, listParts: () => toReadParts(text, request, sets, run) };
    return run.fetch({ service, isMutation, mayRepeat, body, cacheable });
  };
  const text = request.currentText();
  const firstResult = await post(text);
  const isRepeated = stopKeyAdditions(firstResult, text, service, o);
  const result = isRepeated ? await post(request.textWithoutAddedKeys()) : firstResult;
  if (result.isShared !== true) run.isShared = false;
  reportFailures(result, service, run, o);
  fetches.forEach((fetch, i) => acceptResponse(result, { fetch, representations: sets[i] }, run, o));
}

/**
 * Stops adding the keys at which the subgraph reported errors, for all later requests.
 * @returns whether it reported errors at added keys: the request is then sent again without added keys. Only reads have added keys.
 */
function stopKeyAdditions(
  result: FetchResult,
  { addedKeys }: RequestText,
  service: string,
  { stoppedKeyAdditions, observe }: RunOptions,
): boolean {
  if (result.kind !== "graphql" || result.errors.length === 0) return false;
  const types = new Set<string>();
  for (const { path } of result.errors) {
    if (!path) continue;
    // The path of an error at an added key. The second step is the index of the entity.
    const [entitiesKey, , responseName] = path;
    const type = addedKeys.get(`${entitiesKey}.${responseName}`);
    if (type !== undefined) types.add(type);
  }
  for (const type of types) {
    if (stoppedKeyAdditions.add(service, type)) observe({ kind: "key-check-stopped", service, type });
  }
  return types.size > 0;
}

function reportFailures(result: FetchResult, service: string, { scope }: Run, o: RunOptions): void {
  if (result.kind !== "graphql") createFailureReports(o, service, scope).failure(result);
  else if (result.errors.length > 0) createFailureReports(o, service, scope).errors(result);
}

/**
 * Whether there is an object for the fetch. A fetch of root fields has no representations; if it is below a field whose type is a root type, it needs
 * an object at one of its paths.
 */
function hasTarget({ paths }: CompiledFetch, representations: RepresentationSet | undefined, run: Run): boolean {
  if (representations) return representations.count > 0;
  // An empty path: the object is the root of the response.
  if (paths.some(({ length }) => length === 0)) return true;
  let hasObject = false;
  visitTargets(treeOf(run), paths, () => {
    hasObject = true;
  });
  return hasObject;
}

/** Undefined for a fetch of root fields. Fetches of one group have the same representations. */
function representationsOf({ representations: plan, paths }: CompiledFetch, run: Run): RepresentationSet | undefined {
  if (!plan) return undefined;
  const known = run.representations[plan.group];
  if (known) return known;
  const write = () => writeRepresentations(treeOf(run), paths, plan);
  const set = memoizeWhileShared(run.joins, plan, run, write);
  run.representations[plan.group] = set;
  return set;
}

function treeOf({ plan, root, joins }: Run): ResponseTree {
  return { root, position: plan.root, joins };
}

/** The JSON of the request. Not memoized if it contains the client's variables, which are not among the sources. */
function bodyOf(request: CompiledRequest, text: RequestText, sets: RepresentationSets, run: Run): string {
  const write = () => writeBody(text, request, sets, run.variables);
  return request.variables.length > 0 ? write() : memoizeWhileShared(sets, text, run, write);
}

/** What the entity cache needs of the request, to send only the representations whose entities are not cached. */
function toReadParts(
  { head }: RequestText,
  { fetches, variables }: CompiledRequest,
  sets: RepresentationSets,
  run: Run,
): ReadParts {
  const lists: EntityList[] = [];
  for (const [i, fetch] of fetches.entries()) {
    const set = sets[i];
    const plan = fetch.representations;
    if (set && plan) lists.push(toEntityList(fetch, plan, set, run));
  }
  return { head, variables: writeVariables(variables, run.variables), lists };
}

function toEntityList(
  fetch: CompiledFetch,
  { variable, entitiesKey }: RepresentationPlan,
  set: RepresentationSet,
  run: Run,
): EntityList {
  return {
    variable,
    entitiesKey,
    representations: set,
    isRequested(entity, index) {
      const requested = set.firstObjects[index];
      return requested !== undefined && isRequestedEntity(fetch, requested, entity, run.joins);
    },
  };
}

function writeBody(
  { head }: RequestText,
  { fetches, variables }: CompiledRequest,
  sets: RepresentationSets,
  values: Json,
): string {
  let members = "";
  for (const [i, set] of sets.entries()) {
    const plan = fetches[i]?.representations;
    if (!set || !plan) continue;
    if (members !== "") members += ",";
    members += `"${plan.variable}":[${set.text}]`;
  }
  const clientMembers = writeVariables(variables, values);
  if (members !== "" && clientMembers !== "") members += ",";
  members += clientMembers;
  return members === "" ? `${head}}` : `${head},"variables":{${members}}}`;
}

/**
 * The members of the client's variables. A variable that the client did not send is left out: the request's text has the same default value as
 * the client's operation.
 */
function writeVariables(variables: CompiledRequest["variables"], values: Json): string {
  let members = "";
  for (const { name, clientName } of variables) {
    if (!Object.hasOwn(values, clientName)) continue;
    if (members !== "") members += ",";
    members += `${JSON.stringify(name)}:${stringifyDeepJson(values[clientName])}`;
  }
  return members;
}
