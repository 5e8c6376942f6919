// Stage 4 of 5: fetch it. Follows a compiled plan: each fetch is sent once what it needs is there.
import { OperationTypeNode } from "graphql";
import type { CompiledFetch, CompiledPlan, Join, Step } from "../plan/compiled-plan.ts";
import { type Ask, type AskOptions, createAsk } from "./ask.ts";
import { joinToAll } from "./joins.ts";
import type { FieldLoss } from "./losses.ts";
import { type RepresentationSet, writeRepresentations } from "./representations.ts";
import type { RequestScope } from "./request-scope.ts";
import { type RunData, take, type TakeOptions } from "./take.ts";
import { visitTargets } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;

/** All that was fetched. `root` and `joins` are read through the plan's positions. */
export interface RunResult {
  readonly root: Json;
  readonly joins: readonly (Join | undefined)[];
  readonly losses: readonly FieldLoss[];
}

export interface RunOptions extends AskOptions, TakeOptions {}

/** @param introspected what the schema says about itself, by response names. Rejects for bugs only. */
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
      ask: createAsk(o, scope, plan.kind === OperationTypeNode.QUERY),
    };
    if (introspected) run.joins[plan.fetches.length] = joinToAll(introspected);
    if (plan.steps) await follow(plan.steps, run, o);
    return run;
  };
}

async function follow(step: Step, run: Run, o: RunOptions): Promise<void> {
  if (step.kind === "fetch") return fetchAndJoin(step.fetch, run, o);
  if (step.kind === "parallel") {
    await Promise.all(step.steps.map((child) => follow(child, run, o)));
    return;
  }
  for (const child of step.steps) await follow(child, run, o);
}

async function fetchAndJoin(fetch: CompiledFetch, run: Run, o: RunOptions): Promise<void> {
  const representations = representationsOf(fetch, run);
  if (representations ? representations.count === 0 : !hasTarget(fetch, run)) return;
  const body = writeBody(fetch, representations, run.variables);
  const { service, isMutation } = fetch;
  take(await run.ask({ service, body, isMutation }), { fetch, representations }, run, o);
}

/** A nested fetch of root fields needs an object to belong to. */
function hasTarget({ path }: CompiledFetch, run: Run): boolean {
  if (path.length === 0) return true;
  let isFound = false;
  visitTargets({ ...run, position: run.plan.root }, path, () => void (isFound = true));
  return isFound;
}

/** Fetches of one group are about the same objects and need the same of them. */
function representationsOf({ representations: plan, path }: CompiledFetch, run: Run): RepresentationSet | undefined {
  if (!plan) return undefined;
  return (run.representations[plan.group] ??= writeRepresentations({ ...run, position: run.plan.root }, path, plan));
}

/** A variable that the client did not send is not sent on: its default is the subgraph's to apply, and the same. */
function writeBody(fetch: CompiledFetch, representations: RepresentationSet | undefined, variables: Json): string {
  let members = representations ? `"representations":[${representations.text}]` : "";
  for (const { planned, client } of fetch.variables) {
    if (!Object.hasOwn(variables, client)) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(planned)}:${JSON.stringify(variables[client])}`;
  }
  return members === "" ? `${fetch.requestHead}}` : `${fetch.requestHead},"variables":{${members}}}`;
}
