// Stage 4 of 5: run. Executes a compiled plan: each fetch is sent as soon as the fetches it depends on are complete.
import { OperationTypeNode } from "graphql";
import type {
  CompiledFetch,
  CompiledPlan,
  CompiledRequest,
  RequestText,
  PlanStep,
} from "../plan/compile/compiled-plan.ts";
import type { StoppedKeyChecks } from "../plan/compile/key-checks.ts";
import { acceptResponse, type AcceptOptions, memoizeWhileShared, type RunState } from "./accept-response.ts";
import { createFailureReports } from "./failure-reports.ts";
import { createFetch, type FetchOptions, type SendFetch } from "./fetch.ts";
import type { FieldError } from "./field-errors.ts";
import { joinToAll, type SourceJoin } from "./joins.ts";
import { type RepresentationSet, writeRepresentations } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { FetchResult } from "./subgraph-response.ts";
import { visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;

/** The fetched data. `root` and `joins` are read through the plan's positions. */
export interface RunResult {
  readonly root: Json;
  readonly joins: readonly (SourceJoin | undefined)[];
  readonly fieldErrors: readonly FieldError[];
  /** All data came, complete and valid, from responses that other requests got too: what is computed from it can be memoized. */
  readonly isShared: boolean;
}

export interface RunOptions extends FetchOptions, AcceptOptions {
  readonly stoppedKeyChecks: StoppedKeyChecks;
  /** Whether, with the data fetched so far, a null in one of the first `fieldCount` root fields propagates to `data`. */
  readonly isDataNull: (plan: CompiledPlan, fetched: Pick<RunResult, "root" | "joins">, fieldCount: number) => boolean;
}

/** @param introspected values of introspection fields, by their aliases in the plan. Rejects for bugs only. */
export type RunStage = (
  plan: CompiledPlan,
  variables: Json,
  scope: RequestScope,
  introspected: Json | undefined,
) => Promise<RunResult>;

interface Run extends RunState {
  readonly variables: Json;
  /** By group, see RepresentationPlan. */
  readonly representations: (RepresentationSet | undefined)[];
  readonly fetch: SendFetch;
}

export function createRunStage(o: RunOptions): RunStage {
  return async (plan, variables, scope, introspected) => {
    const run: Run = {
      plan,
      variables,
      scope,
      root: {},
      joins: [],
      fieldErrors: [],
      representations: [],
      isShared: o.sharing !== undefined && !plan.isMerged && !introspected,
      fetch: createFetch(o, scope, plan.kind === OperationTypeNode.QUERY),
    };
    if (introspected) run.joins[plan.fetches.length] = joinToAll(introspected);
    if (plan.steps) await follow(plan.steps, run, o);
    return run;
  };
}

async function follow(step: PlanStep, run: Run, o: RunOptions): Promise<void> {
  if (step.kind === "request") return send(step.request, run, o);
  if (step.kind === "parallel") {
    await Promise.all(step.steps.map((child) => follow(child, run, o)));
    return;
  }
  for (const child of step.steps) await follow(child, run, o);
}

async function send(request: CompiledRequest, run: Run, o: RunOptions): Promise<void> {
  // After an error of a non-null field, the later fields of a mutation are not executed (GraphQL spec, "Handling Execution Errors").
  if (request.rootFieldsBefore > 0 && o.isDataNull(run.plan, run, request.rootFieldsBefore)) return;
  const sets = request.fetches.map((fetch) => representationsOf(fetch, run));
  if (!request.fetches.some((fetch, i) => hasTarget(fetch, sets[i], run))) return;
  const { service, isMutation, mayRepeat, fetches } = request;
  const fetchBy = (text: RequestText) =>
    run.fetch({ service, isMutation, mayRepeat, body: bodyOf(request, text, sets, run) });
  const text = request.currentText();
  const first = await fetchBy(text);
  const result = stopKeyChecks(first, text, service, o) ? await fetchBy(request.textWithoutAddedKeys()) : first;
  run.isShared &&= o.sharing?.isShared(result) === true;
  report(result, service, run, o);
  fetches.forEach((fetch, i) => acceptResponse(result, { fetch, representations: sets[i] }, run, o));
}

/** Stops adding the keys at which the subgraph reported errors. @returns whether there are any: the fetch is then sent again without keys. */
function stopKeyChecks(
  result: FetchResult,
  { addedKeys }: RequestText,
  service: string,
  { stoppedKeyChecks, observe }: RunOptions,
): boolean {
  if (result.kind !== "graphql" || result.errors.length === 0) return false;
  const types = new Set(result.errors.flatMap(({ path = [] }) => addedKeys.get(`${path[0]}.${path[2]}`) ?? []));
  for (const type of types) {
    if (stoppedKeyChecks.add(service, type)) observe({ kind: "key-check-stopped", service, type });
  }
  return types.size > 0;
}

function report(result: FetchResult, service: string, { scope }: Run, o: RunOptions): void {
  if (result.kind !== "graphql") createFailureReports(o, service, scope).failure(result);
  else if (result.errors.length > 0) createFailureReports(o, service, scope).errors(result);
}

/** A nested fetch of root fields is sent only if an object at its path exists. */
function hasTarget({ paths }: CompiledFetch, representations: RepresentationSet | undefined, run: Run): boolean {
  if (representations) return representations.count > 0;
  if (paths.some(({ length }) => length === 0)) return true;
  let hasObject = false;
  visitTargets({ ...run, position: run.plan.root }, paths, () => void (hasObject = true));
  return hasObject;
}

/** Fetches of one group have the same representations. */
function representationsOf({ representations: plan, paths }: CompiledFetch, run: Run): RepresentationSet | undefined {
  if (!plan) return undefined;
  const write = () => writeRepresentations({ ...run, position: run.plan.root }, paths, plan);
  return (run.representations[plan.group] ??= memoizeWhileShared(run.joins, plan, run, write));
}

function bodyOf(
  request: CompiledRequest,
  text: RequestText,
  sets: readonly (RepresentationSet | undefined)[],
  run: Run,
): string {
  const write = () => writeBody(text, request, sets, run.variables);
  return request.variables.length > 0 ? write() : memoizeWhileShared(sets, text, run, write);
}

/** A variable that the client did not send is left out: the subgraph applies its default, which is the same. */
function writeBody(
  { head }: RequestText,
  { fetches, variables }: CompiledRequest,
  sets: readonly (RepresentationSet | undefined)[],
  values: Json,
): string {
  let members = "";
  for (const [i, set] of sets.entries()) {
    const plan = fetches[i]?.representations;
    if (set && plan) members += `${members === "" ? "" : ","}"${plan.variable}":[${set.text}]`;
  }
  for (const { name, clientName } of variables) {
    if (!Object.hasOwn(values, clientName)) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${JSON.stringify(values[clientName])}`;
  }
  return members === "" ? `${head}}` : `${head},"variables":{${members}}}`;
}
