// Assembles stages 3 to 5 (plan, run, shape) for one supergraph. generation.ts creates them; execute.ts calls them in their order.
import { buildASTSchema, type DocumentNode, type GraphQLSchema, isObjectType } from "graphql";
import type { DocumentCpu } from "../../document-cpu.ts";
import type { GatewayObserver } from "../../observations.ts";
import type { ValidatedOperation, Variables } from "../parse/validated-operation.ts";
import { createCompiler } from "../plan/compile/compile.ts";
import type { CompiledPlan } from "../plan/compile/compiled-plan.ts";
import {
  createIntrospection,
  type Introspection,
  type IntrospectionOptions,
} from "../plan/introspection/introspection.ts";
import { createStoppedKeyAdditions } from "../plan/compile/key-checks.ts";
import { createOverrideCombinations } from "../plan/override-combinations.ts";
import { createPlanStage, type PlanOptions } from "../plan/plan.ts";
import { createSupergraphTypes } from "../plan/compile/supergraph-types.ts";
import { memoizeWhileShared } from "../run/accept-response.ts";
import type { EntityCache } from "../run/caching/entity-cache.ts";
import { createFetch } from "../run/fetch/fetch.ts";
import type { SubgraphClient } from "../run/fetch/subgraph-client.ts";
import { createPathRedactor } from "../run/redact-path.ts";
import type { RequestScope } from "../run/request-scope.ts";
import { createRunStage, type RunResult } from "../run/run.ts";
import { isDataNullSoFar, type ShapedBody, writeResponseBody } from "../shape/response-body.ts";
import type { FieldProblem } from "../shape/write-data.ts";
import type { FetchObserver } from "../../telemetry/fetch-observer.ts";

/** `plan`, `run` and `shape` are called once for each request, in this order. They throw, or reject with, a Rejection or a bug. */
export interface SupergraphStages {
  readonly apiSchema: GraphQLSchema;
  /**
   * Stage 3. Returns a promise if the compiled plan is not ready.
   * @param variables as the client sent them, validated.
   * @param cpu counts the CPU time of the main thread if the plan is new.
   */
  plan(
    operation: ValidatedOperation,
    variables: Variables,
    traceId: string,
    cpu: DocumentCpu,
  ): CompiledPlan | Promise<CompiledPlan>;
  /** Stage 4: introspection fields, then the fetches. Failed fetches do not reject the promise: they are field errors of the result. */
  run(plan: CompiledPlan, operation: ValidatedOperation, variables: Variables, scope: RequestScope): Promise<RunResult>;
  /** Stage 5: the response body. Reports values that do not fit the schema. */
  shape(plan: CompiledPlan, result: RunResult, operation: ValidatedOperation, scope: RequestScope): ShapedBody;
  /** The query plan as JSON, for developers. */
  explain(operation: ValidatedOperation, variables: Variables, traceId: string): Promise<unknown>;
  /** Plans and compiles an operation before clients send it to this generation, for each combination of override labels. */
  prepare(operation: ValidatedOperation, variables: Variables): Promise<void>;
  /** The values of `@skip` and `@include` variables, and nulls in non-null arguments, for which an operation has been planned. */
  conditionsOf(operation: ValidatedOperation): readonly Variables[];
  readonly sizeOfIntrospection: Introspection["size"];
}

export interface SupergraphStagesOptions {
  readonly apiSchema: GraphQLSchema;
  readonly introspection: Pick<IntrospectionOptions, "standard" | "executeInWorker" | "bytesMax">;
  /** The whole supergraph, with types and fields that clients do not see. */
  readonly supergraphSchema: GraphQLSchema;
  readonly aliasPrefix: string;
  /** Returns the query plan for the text of a normalized operation, from the plan cache or from a planner thread. */
  readonly plan: PlanOptions["plan"];
  /** The override labels that the plan of each field depends on, by field coordinate. */
  readonly overrideLabels: ReadonlyMap<string, readonly string[]>;
  /** Override labels other than `percent(n)` that are true. */
  readonly enabledLabels: readonly string[];
  readonly clientOf: (service: string) => SubgraphClient;
  readonly checksKeys: (service: string) => boolean;
  readonly fetchSharing: boolean;
  /** The same for all supergraphs; undefined if it is off for all subgraphs. */
  readonly entityCache?: EntityCache | undefined;
  readonly fetchObserver?: FetchObserver | undefined;
  readonly observe: GatewayObserver;
}

/** The supergraph's types, with those that clients do not see. The planner has validated the supergraph, so its directives are not checked. */
export function buildSupergraphSchema(supergraph: DocumentNode): GraphQLSchema {
  return buildASTSchema(supergraph, { assumeValid: true, assumeValidSDL: true });
}

export function createSupergraphStages(o: SupergraphStagesOptions): SupergraphStages {
  const types = createSupergraphTypes(o.supergraphSchema);
  const stoppedKeyAdditions = createStoppedKeyAdditions();
  const { apiSchema, aliasPrefix, checksKeys } = o;
  const compile = createCompiler({ types, stoppedKeyAdditions, apiSchema, aliasPrefix, checksKeys });
  const onCompiled = ({ isMerged, fetches }: CompiledPlan) =>
    o.observe({ kind: "plan-compiled", isMerged, fetchCount: fetches.length });
  const listCombinations = createOverrideCombinations(o);
  const planStage = createPlanStage({ apiSchema, aliasPrefix, plan: o.plan, compile, onCompiled, listCombinations });
  const introspection = createIntrospection({
    apiSchema,
    ...o.introspection,
    onEvicted: () => o.observe({ kind: "cache-evicted", cache: "introspection" }),
  });
  const isObjectTypeName = (name: unknown) =>
    typeof name === "string" && isObjectType(o.supergraphSchema.getType(name));
  const redactPath = createPathRedactor(o.supergraphSchema);
  const runFetches = createRunStage({
    clientOf: o.clientOf,
    stoppedKeyAdditions,
    entityCache: o.entityCache,
    fetchSharing: o.fetchSharing,
    fetch: createFetch(o),
    mergeRules: { isObjectType: isObjectTypeName, applies: types.applies },
    observe: o.observe,
    redactPath,
    isDataNull: isDataNullSoFar,
  });

  function reportRejectedValues(
    problems: readonly FieldProblem[],
    { identity }: ValidatedOperation,
    { record, requestId, trace: { traceId } }: RequestScope,
  ): void {
    // The access log and the observation name the subgraph and the code of the first problem only.
    const [first] = problems;
    if (!first) return;
    const { service = "gateway", code } = first;
    record?.addFailure({ service, replica: undefined, reason: code });
    const redacted = problems.map((problem) => ({ path: redactPath(problem.path), code: problem.code }));
    o.observe({ kind: "values-rejected", requestId, traceId, ...identity, service, code, problems: redacted });
  }

  return {
    apiSchema,
    plan: planStage.plan,
    run(plan, operation, variables, scope) {
      const introspected = introspection.read(plan, operation, variables);
      if (!(introspected instanceof Promise)) return runFetches(plan, variables, scope, introspected);
      return introspected.then((values) => runFetches(plan, variables, scope, values));
    },
    shape(plan, result, operation, scope) {
      // If all fetches of the run are shared, the body is written once for all client requests that got the same data.
      const body = memoizeWhileShared(result.joins, plan, result, () => writeResponseBody(plan, result));
      if (body.problems.length > 0) reportRejectedValues(body.problems, operation, scope);
      return body;
    },
    explain: planStage.explain,
    prepare: planStage.prepare,
    conditionsOf: planStage.conditionsOf,
    sizeOfIntrospection: introspection.size,
  };
}
