// Stage 4 of 5: fetch it. Follows a compiled plan: each fetch is sent once what it needs is there.
import { OperationTypeNode } from "graphql";
import type { CompiledFetch, CompiledPlan, CompiledRequest, RequestText, Step } from "../plan/compile/compiled-plan.ts";
import type { StoppedKeyChecks } from "../plan/compile/key-checks.ts";
import { type Ask, type AskOptions, createAsk } from "./fetch.ts";
import { joinToAll, type SourceJoin } from "./joins.ts";
import type { FieldLoss } from "./field-errors.ts";
import { createReport } from "./failure-log.ts";
import { type RepresentationSet, writeRepresentations } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { AskedAnswer } from "./subgraph-response.ts";
import { deriveFrom, type RunData, take, type TakeOptions } from "./accept-response.ts";
import { visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;

/** All that was fetched. `root` and `joins` are read through the plan's positions. */
export interface RunResult {
  readonly root: Json;
  readonly joins: readonly (SourceJoin | undefined)[];
  readonly losses: readonly FieldLoss[];
  /** All of it came from answers that others have got too, whole and right: see derivations.ts. */
  readonly isShared: boolean;
}

export interface RunOptions extends AskOptions, TakeOptions {
  readonly stoppedKeyChecks: StoppedKeyChecks;
  /** Whether, of what was fetched so far, a null in one of the first `fieldCount` root fields propagates to `data`. */
  readonly isDataNull: (plan: CompiledPlan, fetched: Pick<RunResult, "root" | "joins">, fieldCount: number) => boolean;
}

/** @param introspected values of introspection fields, by their aliases in the plan. Rejects for bugs only. */
export type RunStage = (
  plan: CompiledPlan,
  variables: Json,
  scope: RequestScope,
  introspected: Json | undefined,
) => Promise<RunResult>;

interface Run extends RunData {
  readonly variables: Json;
  /** By group, see RepresentationPlan. */
  readonly representations: (RepresentationSet | undefined)[];
  readonly ask: Ask;
}

export function createRunStage(o: RunOptions): RunStage {
  return async (plan, variables, scope, introspected) => {
    const run: Run = {
      plan,
      variables,
      scope,
      root: {},
      joins: [],
      losses: [],
      representations: [],
      isShared: o.sharing !== undefined && !plan.isMerged && !introspected,
      ask: createAsk(o, scope, plan.kind === OperationTypeNode.QUERY),
    };
    if (introspected) run.joins[plan.fetches.length] = joinToAll(introspected);
    if (plan.steps) await follow(plan.steps, run, o);
    return run;
  };
}

async function follow(step: Step, run: Run, o: RunOptions): Promise<void> {
  if (step.kind === "request") return send(step.request, run, o);
  if (step.kind === "parallel") {
    await Promise.all(step.steps.map((child) => follow(child, run, o)));
    return;
  }
  for (const child of step.steps) await follow(child, run, o);
}

async function send(request: CompiledRequest, run: Run, o: RunOptions): Promise<void> {
  // After an error of a non-null field, the later fields of a mutation are not executed (GraphQL spec, "Handling Execution Errors").
  if (request.fieldsBefore > 0 && o.isDataNull(run.plan, run, request.fieldsBefore)) return;
  const sets = request.fetches.map((fetch) => representationsOf(fetch, run));
  if (!request.fetches.some((fetch, i) => hasTarget(fetch, sets[i], run))) return;
  const { service, isMutation, mayRepeat, fetches } = request;
  const fetchBy = (text: RequestText) =>
    run.ask({ service, isMutation, mayRepeat, body: bodyOf(request, text, sets, run) });
  const text = request.text();
  const first = await fetchBy(text);
  const answer = stopKeyChecks(first, text, service, o) ? await fetchBy(request.textWithoutKeys()) : first;
  run.isShared &&= o.sharing?.isShared(answer) === true;
  report(answer, service, run, o);
  fetches.forEach((fetch, i) => take(answer, { fetch, representations: sets[i] }, run, o));
}

/** Stops adding the keys at which the subgraph reported errors. Returns whether there are any: then the fetch is to be repeated without keys. */
function stopKeyChecks(
  answer: AskedAnswer,
  { addedKeys }: RequestText,
  service: string,
  { stoppedKeyChecks, observe }: RunOptions,
): boolean {
  if (answer.kind !== "graphql" || answer.errors.length === 0) return false;
  const types = new Set(answer.errors.flatMap(({ path = [] }) => addedKeys.get(`${path[0]}.${path[2]}`) ?? []));
  for (const type of types) {
    if (stoppedKeyChecks.add(service, type)) observe({ kind: "key-check-stopped", service, type });
  }
  return types.size > 0;
}

/** Once for each request, whatever it brings. */
function report(answer: AskedAnswer, service: string, { scope }: Run, o: RunOptions): void {
  if (answer.kind !== "graphql") createReport(o, service, scope).failure(answer);
  else if (answer.errors.length > 0) createReport(o, service, scope).errors(answer);
}

/** A nested fetch of root fields needs an object to belong to. */
function hasTarget({ paths }: CompiledFetch, representations: RepresentationSet | undefined, run: Run): boolean {
  if (representations) return representations.count > 0;
  if (paths.some(({ length }) => length === 0)) return true;
  let isFound = false;
  visitTargets({ ...run, position: run.plan.root }, paths, () => void (isFound = true));
  return isFound;
}

/** Fetches of one group are about the same objects and need the same of them. */
function representationsOf({ representations: plan, paths }: CompiledFetch, run: Run): RepresentationSet | undefined {
  if (!plan) return undefined;
  const write = () => writeRepresentations({ ...run, position: run.plan.root }, paths, plan);
  return (run.representations[plan.group] ??= deriveFrom(run.joins, plan, run, write));
}

function bodyOf(
  request: CompiledRequest,
  text: RequestText,
  sets: readonly (RepresentationSet | undefined)[],
  run: Run,
): string {
  const write = () => writeBody(text, request, sets, run.variables);
  return request.variables.length > 0 ? write() : deriveFrom(sets, text, run, write);
}

/** A variable that the client did not send is not sent on: its default is the subgraph's to apply, and the same. */
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
  for (const { planned, client } of variables) {
    if (!Object.hasOwn(values, client)) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(planned)}:${JSON.stringify(values[client])}`;
  }
  return members === "" ? `${head}}` : `${head},"variables":{${members}}}`;
}
