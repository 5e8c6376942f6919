// Stage 4 of 5: run. Executes a compiled plan: sends each request when it is due (request-order.ts), and accepts its response.
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import type { Json } from "@tributary/kit/json/json";
import { OperationTypeNode } from "graphql";
import type {
  CompiledFetch,
  CompiledPlan,
  CompiledRequest,
  RequestText,
  RepresentationPlan,
} from "../plan/compile/compiled-plan.ts";
import type { StoppedKeyAdditions } from "../plan/compile/key-checks.ts";
import {
  acceptComplete,
  acceptIncomplete,
  type AcceptOptions,
  memoizeWhileShared,
  type RunState,
  storeJoin,
} from "./accept-response.ts";
import { createFailureReports } from "./failure-reports.ts";
import type { EntityList, ReadParts } from "./cached-fetch.ts";
import type { EntityCache } from "./caching/entity-cache.ts";
import { type CheckedFetch, isRequestedEntity, type SentFetch, stopUnreturnedKeys } from "./entities.ts";
import { createFetch, type FetchOptions, type SendFetch } from "./fetch.ts";
import type { FieldError } from "./field-errors.ts";
import { joinEntities, joinToAll, type SourceJoin } from "./joins.ts";
import { type RepresentationSet, writeRepresentations } from "./representations.ts";
import { sendInOrder } from "./request-order.ts";
import type { RequestScope } from "./request-scope.ts";
import { isSplit, needsSplit, repeatInParts, type SendPart, sendParts } from "./split-request.ts";
import type { FetchResult } from "./subgraph-response.ts";
import { type ResponseTree, visitTargets } from "./targets.ts";

/** The fetched data. `root` and `joins` are read through the layouts of the plan's positions. */
export interface RunResult {
  readonly root: Json;
  /** By `joinIndex`; the index after the last fetch has the values of introspection fields. A merged plan has no joins of fetches. */
  readonly joins: readonly (SourceJoin | undefined)[];
  /**
   * True if the plan is merged and a subgraph returned null for an entity: a field that is absent from the merged tree may be a field of that entity.
   */
  readonly lacksEntities: boolean;
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
  readonly isDataNull: (
    plan: CompiledPlan,
    fetched: Omit<RunResult, "fieldErrors" | "isShared">,
    fieldCount: number,
  ) => boolean;
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
      lacksEntities: false,
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
    if (plan.parts.length > 0) await sendInOrder(plan.parts, (request) => send(request, run, o));
    return run;
  };
}

/** For each fetch of a request: its representations; undefined for a fetch of root fields. */
type RepresentationSets = readonly (RepresentationSet | undefined)[];

/** Sends one request of the plan, unless there is no object for it, and accepts its response. */
async function send(request: CompiledRequest, run: Run, o: RunOptions): Promise<void> {
  // After an error of a non-null field, the later fields of a mutation are not executed (GraphQL spec, "Handling Execution Errors").
  if (request.rootFieldsBefore > 0 && o.isDataNull(run.plan, run, request.rootFieldsBefore)) return;
  const { service, isMutation, mayRepeat, fetches, split } = request;
  if (split && isSplit(split)) return sendParts(split, run, createSendPart(o));
  const sets = fetches.map((fetch) => representationsOf(fetch, run));
  const hasAnyTarget = fetches.some((fetch, i) => hasTarget(fetch, sets[i], run));
  if (!hasAnyTarget) {
    // Nothing is sent, but stage 5 has to know which objects were left out.
    for (const [i, fetch] of fetches.entries()) {
      const set = sets[i];
      if (set?.leftOut) storeJoin(joinEntities(set, []), fetch, run, o);
    }
    return;
  }
  const cache = run.entityCache?.of(service);
  const post = (text: RequestText) => {
    const body = bodyOf(request, text, sets, run);
    const cacheable = cache && { cache, body, listParts: () => toReadParts(text, request, sets, run) };
    return run.fetch({ service, isMutation, mayRepeat, body, cacheable });
  };
  let text = request.currentText();
  let result = await post(text);
  let incomplete = acceptAll(result, text, fetches, run, o);
  // Each repetition leaves out the keys of at least one type, so the loop ends.
  while (incomplete && stopUnreturnedKeys(result, incomplete, run.joins, o)) {
    text = request.currentText();
    result = await post(text);
    const fetchesLeft = incomplete.map(({ fetch }) => fetch);
    incomplete = acceptAll(result, text, fetchesLeft, run, o);
  }
  reportFailures(result, service, run, o);
  if (incomplete && split && needsSplit(split, result)) return repeatInParts(split, result, run, createSendPart(o), o);
  for (const sent of incomplete ?? []) acceptIncomplete(result, sent, run, o);
}

function createSendPart(o: RunOptions): SendPart<Run> {
  return (part, run) => send(part, run, o);
}

/** Accepts a response for the fetches of its request. @returns those for which it is not complete and valid; undefined if there are none. */
function acceptAll(
  result: FetchResult,
  { addedKeys }: RequestText,
  fetches: readonly CompiledFetch[],
  run: Run,
  o: RunOptions,
): readonly SentFetch[] | undefined {
  if (result.isShared !== true) run.isShared = false;
  let incomplete: SentFetch[] | undefined;
  for (const fetch of fetches) {
    const sent = { fetch, representations: representationsOf(fetch, run), addedKeys };
    if (!acceptComplete(result, sent, run, o)) (incomplete ??= []).push(sent);
  }
  return incomplete;
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
  { head, addedKeys }: RequestText,
  { fetches, variables }: CompiledRequest,
  sets: RepresentationSets,
  run: Run,
): ReadParts {
  const lists: EntityList[] = [];
  for (const [i, fetch] of fetches.entries()) {
    const set = sets[i];
    const plan = fetch.representations;
    if (set && plan) lists.push(toEntityList({ fetch, addedKeys }, plan, set, run));
  }
  return { head, variables: writeVariables(variables, run.variables), lists };
}

function toEntityList(
  checked: CheckedFetch,
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
      return requested !== undefined && isRequestedEntity(checked, requested, entity, run.joins);
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
