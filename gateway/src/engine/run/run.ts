// Stage 4 of 5: run. Executes a compiled plan: sends each request when it is due, and accepts its response.
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
  memoizeIfShared,
  type RunState,
  storeJoin,
} from "./accept-response.ts";
import { createFailureReports } from "./failure-reports.ts";
import { divideByContext, type ObjectsByContext } from "./contexts.ts";
import type { EntityCache } from "./caching/entity-cache.ts";
import { withCacheMetadata } from "./caching/response-caching.ts";
import { type CheckedFetch, isRequestedEntity, type SentFetch, stopUnreturnedKeys } from "./entities.ts";
import { type EntityList, type ReadParts, writeBody } from "./fetch/request-body.ts";
import type { Fetch } from "./fetch/subgraph-request.ts";
import { requireSubgraph } from "./fetch/subgraph.ts";
import type { FieldError } from "./field-errors.ts";
import { joinEntities, joinToAll, type SourceDataJoin } from "./data-joins.ts";
import { type RepresentationSet, writeRepresentations } from "./representations.ts";
import { sendInOrder } from "./request-order.ts";
import { forwardedTo, type RequestScope } from "./request-scope.ts";
import { isSplit, needsSplit, repeatInParts, type SendPart, sendParts } from "./split-request.ts";
import type { FetchResult } from "./fetch/subgraph-response.ts";
import { createVisitBudget, type ResponseTree, visitTargets } from "./targets.ts";

/** The fetched data. `root` and `dataJoins` are read through the layouts of the plan's positions. */
export interface RunResult {
  readonly root: Json;
  /** By `joinIndex`; the index after the last fetch has the values of introspection fields. */
  readonly dataJoins: readonly (SourceDataJoin | undefined)[];
  /** In a merged plan: a field that is absent may be of an entity that a subgraph returned as null. */
  readonly lacksEntities: boolean;
  readonly fieldErrors: readonly FieldError[];
  /** Whether all data came, complete and valid, from responses that other client requests got too: values computed from it can be memoized. */
  readonly mayMemoize: boolean;
  /** The bodies of responses that no other client request got. */
  readonly ownBytes: readonly Buffer[];
}

export interface RunOptions extends AcceptOptions {
  readonly fetch: Fetch;
  readonly fetchSharing: boolean;
  /** Undefined if it is off for all subgraphs. */
  readonly entityCache: EntityCache | undefined;
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
  /** Whether a null in one of the first `fieldCount` root fields propagates to `data`. */
  readonly isDataNull: (
    plan: CompiledPlan,
    fetched: Omit<RunResult, "fieldErrors" | "mayMemoize" | "ownBytes">,
    fieldCount: number,
  ) => boolean;
}

/** Rejects for bugs only. @param introspected by the aliases in the plan; undefined if the client selects no introspection field. */
export type RunStage = (
  plan: CompiledPlan,
  variables: Json,
  scope: RequestScope,
  introspected: Json | undefined,
) => Promise<RunResult>;

interface Run extends RunState {
  readonly variables: Json;
  /** By `RepresentationPlan.group`. */
  readonly representationSets: (RepresentationSet | undefined)[];
  readonly fetch: Fetch;
  readonly ownBytes: Buffer[];
  /** False within a mutation: its reads must see its writes. */
  readonly isReadOnly: boolean;
  readonly repeats: Map<string, Promise<FetchResult>>;
  /** Undefined if this request must not use it. */
  readonly entityCache: EntityCache | undefined;
}

export function createRunStage(o: RunOptions): RunStage {
  return async (plan, variables, scope, introspected) => {
    const isReadOnly = plan.kind === OperationTypeNode.QUERY;
    const run: Run = {
      plan,
      variables,
      scope,
      visits: createVisitBudget(),
      root: {},
      dataJoins: [],
      lacksEntities: false,
      fieldErrors: [],
      representationSets: [],
      mayMemoize: o.fetchSharing && !plan.isMerged && !introspected,
      ownBytes: [],
      fetch: o.fetch,
      isReadOnly,
      repeats: new Map(),
      entityCache: isReadOnly && scope.mayUseCachedResults ? o.entityCache : undefined,
    };
    if (introspected) run.dataJoins[plan.fetches.length] = joinToAll(introspected);
    // It changes with the supergraph.
    if (introspected) scope.caching?.add(undefined);
    if (plan.parts.length > 0) await sendInOrder(plan.parts, (request) => send(request, run, o));
    return run;
  };
}

/** By fetch; undefined for a fetch of root fields. */
type RepresentationSets = readonly (RepresentationSet | undefined)[];

async function send(request: CompiledRequest, run: Run, o: RunOptions): Promise<void> {
  // After an error of a non-null field, the later fields of a mutation are not executed (GraphQL spec, "Handling Execution Errors").
  if (request.rootFieldsBefore > 0 && o.isDataNull(run.plan, run, request.rootFieldsBefore)) {
    run.scope.fetchReports?.addUnsent(request, "skipped");
    return;
  }
  const { service, fetches, split } = request;
  if (request.forContexts) return sendByContext(request, request.forContexts, run, o);
  if (split && isSplit(split)) {
    run.scope.fetchReports?.addUnsent(request, "split");
    return sendParts(split, run, createSendPart(o));
  }
  const sets = fetches.map((fetch) => representationsOf(fetch, run));
  const hasAnyTarget = fetches.some((fetch, i) => hasTarget(fetch, sets[i], run));
  if (!hasAnyTarget) {
    run.scope.fetchReports?.addUnsent(request, "skipped");
    // Stage 5 has to know which objects were left out.
    for (const [i, fetch] of fetches.entries()) {
      const set = sets[i];
      if (set?.leftOut) storeJoin(joinEntities(set, []), fetch, run, o);
    }
    return;
  }
  let text = request.currentText();
  let result = await fetchText(text, request, sets, run);
  let incomplete = acceptAll(result, text, fetches, run, o);
  // Each repetition leaves out the keys of at least one type, so the loop ends.
  while (incomplete && stopUnreturnedKeys(result, incomplete, run.dataJoins, o)) {
    text = request.currentText();
    result = await fetchText(text, request, sets, run);
    const fetchesLeft = incomplete.map(({ fetch }) => fetch);
    incomplete = acceptAll(result, text, fetchesLeft, run, o);
  }
  reportFailures(result, service, run, o);
  if (incomplete && split && needsSplit(split, result)) return repeatInParts(split, result, run, createSendPart(o), o);
  for (const sent of incomplete ?? []) acceptIncomplete(result, sent, run, o);
}

/** The objects with the values of one context are a fetch of their own. */
async function sendByContext(
  { fetches: [fetch] }: CompiledRequest,
  forContexts: (count: number) => CompiledRequest,
  run: Run,
  o: RunOptions,
): Promise<void> {
  const sendContexts = async (contexts: readonly ObjectsByContext[]) => {
    const request = forContexts(contexts.length);
    const values = request.fetches.flatMap(({ contextArguments }, i) =>
      contextArguments.map(({ variable }, argument) => [variable, contexts[i]?.values[argument]]),
    );
    const variables: Json = { ...run.variables, ...Object.fromEntries(values) };
    const contextRun = {
      ...run,
      variables,
      representationSets: contexts.map(({ representations }) => representations),
    };
    await send(request, contextRun, o);
    if (contextRun.lacksEntities) run.lacksEntities = true;
  };
  if (fetch) await Promise.all(divideByContext(treeOf(run), fetch).map(sendContexts));
}

function fetchText(
  text: RequestText,
  request: CompiledRequest,
  sets: RepresentationSets,
  run: Run,
): Promise<FetchResult> {
  const { service, isMutation, mayRepeat, fetches } = request;
  const { scope, isReadOnly } = run;
  const { receipts } = scope;
  const subgraph = requireSubgraph(scope.subgraphs, service);
  const { forwardsAuthorization, requestHeaders, responseHeaders } = subgraph.settings;
  const parts = toReadParts(text, request, sets, run);
  const body = bodyOf(request, text, parts, sets, run);
  // Also if the client does not send such a header: its response is not that of a client that does.
  const varies = requestHeaders?.varies === true;
  if (varies) scope.caching?.add(undefined);
  const isForClientOnly = responseHeaders?.setsCookiesInQueries === true;
  const cache = varies || isForClientOnly ? undefined : run.entityCache?.of(service);
  const wantsCaching = scope.caching !== undefined;
  const dueMs = performance.now();
  const subgraphRequest = {
    service,
    subgraph,
    // The entity cache adds the extension to what it sends.
    body: wantsCaching && !cache ? withCacheMetadata(body) : body,
    authorization: forwardsAuthorization ? scope.authorization : undefined,
    forwarded: forwardedTo(subgraph, scope),
    receipts,
    settledWrites: subgraph.client.writes.settled,
    feedChanges: cache?.feedChanges ?? 0,
    scope,
    dueMs,
    isMutation,
    order: fetches[0]?.joinIndex ?? 0,
    isShareable: isReadOnly && !isForClientOnly,
    repeats: mayRepeat && isReadOnly ? run.repeats : undefined,
    parts,
    cache,
    wantsCaching,
  };
  const signal = scope.deadline.signal(dueMs);
  if (!scope.fetchReports) return run.fetch(subgraphRequest, signal);
  return scope.fetchReports.observe(
    request,
    countEntities(sets),
    (progress) => run.fetch({ ...subgraphRequest, progress }, signal),
    (result) => request.split !== undefined && needsSplit(request.split, result),
  );
}

function countEntities(sets: RepresentationSets): number | undefined {
  return sets.some(Boolean) ? sets.reduce((count, set) => count + (set?.count ?? 0), 0) : undefined;
}

function createSendPart(o: RunOptions): SendPart<Run> {
  return (part, run) => send(part, run, o);
}

/** @returns the fetches for which the response is not complete and valid; undefined if there are none. */
function acceptAll(
  result: FetchResult,
  { addedKeys }: RequestText,
  fetches: readonly CompiledFetch[],
  run: Run,
  o: RunOptions,
): readonly SentFetch[] | undefined {
  run.scope.caching?.add(result.kind === "graphql" ? result.caching : undefined);
  if (result.isShared !== true) {
    run.mayMemoize = false;
    if (result.kind === "graphql" && result.bytes) run.ownBytes.push(result.bytes);
  }
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

/** A fetch of root fields below a field whose type is a root type needs an object at one of its paths. */
function hasTarget({ paths }: CompiledFetch, representations: RepresentationSet | undefined, run: Run): boolean {
  if (representations) return representations.count > 0;
  if (paths.some(({ length }) => length === 0)) return true;
  let hasObject = false;
  visitTargets(treeOf(run), paths, () => {
    hasObject = true;
  });
  return hasObject;
}

/** Fetches of one group have the same representations. */
function representationsOf(
  { representationPlan: plan, paths }: CompiledFetch,
  run: Run,
): RepresentationSet | undefined {
  if (!plan) return undefined;
  const known = run.representationSets[plan.group];
  if (known) return known;
  const write = () => writeRepresentations(treeOf(run), paths, plan);
  const set = memoizeIfShared(run.dataJoins, plan, run, write);
  run.representationSets[plan.group] = set;
  return set;
}

function treeOf({ plan, root, dataJoins, visits }: Run): ResponseTree {
  return { root, position: plan.root, dataJoins, visits };
}

/** Not memoized if it contains the client's variables, which are not among the sources. */
function bodyOf(
  { fetches, variables }: CompiledRequest,
  text: RequestText,
  parts: ReadParts,
  sets: RepresentationSets,
  run: Run,
): string {
  const write = () => {
    const representations: string[] = [];
    for (const [i, set] of sets.entries()) {
      const plan = fetches[i]?.representationPlan;
      if (set && plan) representations.push(`"${plan.variable}":[${set.text}]`);
    }
    return writeBody(parts.head, representations, parts.variables);
  };
  return variables.length > 0 ? write() : memoizeIfShared(sets, text, run, write);
}

function toReadParts(
  { head, addedKeys, responseForm }: RequestText,
  { fetches, variables }: CompiledRequest,
  sets: RepresentationSets,
  run: Run,
): ReadParts {
  const lists: EntityList[] = [];
  for (const [i, fetch] of fetches.entries()) {
    const set = sets[i];
    const plan = fetch.representationPlan;
    if (set && plan) lists.push(toEntityList({ fetch, addedKeys }, plan, set, run));
  }
  return { head, responseForm, variables: writeVariables(variables, run.variables), lists };
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
      return requested !== undefined && isRequestedEntity(checked, requested, entity, run.dataJoins);
    },
  };
}

/** A variable that the client did not send is left out: the request's text has the same default value. */
function writeVariables(variables: CompiledRequest["variables"], values: Json): string {
  let members = "";
  for (const { name, clientName } of variables) {
    if (!Object.hasOwn(values, clientName)) continue;
    if (members !== "") members += ",";
    members += `${JSON.stringify(name)}:${stringifyDeepJson(values[clientName])}`;
  }
  return members;
}
