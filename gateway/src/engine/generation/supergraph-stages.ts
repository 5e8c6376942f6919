// Assembles stages 3 to 5 (plan, run, shape) for one supergraph. generation.ts creates them; execute.ts calls them in their order.
import { setImmediate } from "node:timers/promises";
import { buildASTSchema, type DocumentNode, type GraphQLSchema, isObjectType, parse } from "graphql";
import type { GatewayObserver } from "../../observations.ts";
import { releaseBytes } from "../../release-bytes.ts";
import { addRangeCheckToCustomScalars } from "../parse/numeric-input.ts";
import type { ValidatedOperation, Variables } from "../parse/validated-operation.ts";
import { createCompiler } from "../plan/compile/compile.ts";
import type { CompiledPlan } from "../plan/compile/compiled-plan.ts";
import { createIntrospection, type Introspection } from "../plan/introspection/introspection.ts";
import { createStoppedKeyAdditions } from "../plan/compile/key-checks.ts";
import { createOverrideCombinations } from "../plan/override-combinations.ts";
import { createPlanStage, type PlanOptions, type PlanStage } from "../plan/plan.ts";
import type { SupergraphPlanner } from "../plan/planner/supergraph-planner.ts";
import { createSupergraphTypes } from "../plan/compile/supergraph-types.ts";
import { memoizeIfShared } from "../run/accept-response.ts";
import type { EntityCache } from "../run/caching/entity-cache.ts";
import { createFetch } from "../run/fetch/fetch.ts";
import type { Subgraphs } from "../run/fetch/subgraph.ts";
import { createPathRedactor } from "../run/redact-path.ts";
import type { RequestScope } from "../run/request-scope.ts";
import { createRunStage, type RunResult } from "../run/run.ts";
import { isDataNullSoFar, type ShapedBody, writeResponseBody } from "../shape/response-body.ts";
import type { FieldProblem } from "../shape/write-data.ts";
import type { FetchObserver } from "../../telemetry/fetch-observer.ts";

/** `plan`, `run` and `shape` are called once for each request, in this order. They throw, or reject with, a Rejection or a bug. */
export interface SupergraphStages extends PlanStage {
  readonly apiSchema: GraphQLSchema;
  /** Stage 4: introspection fields, then the fetches. Failed fetches do not reject the promise: they are field errors of the result. */
  run(plan: CompiledPlan, operation: ValidatedOperation, variables: Variables, scope: RequestScope): Promise<RunResult>;
  /** Stage 5: the response body. Reports values that do not fit the schema. */
  shape(plan: CompiledPlan, result: RunResult, operation: ValidatedOperation, scope: RequestScope): ShapedBody;
  readonly sizeOfIntrospection: Introspection["size"];
}

/** The same for all supergraphs. */
export interface StagesOptions {
  readonly fetchSharing: boolean;
  /** Undefined if it is off for all subgraphs. */
  readonly entityCache?: EntityCache | undefined;
  readonly introspectionBytesMax: number;
  /** Labels of progressive `@override`, other than `percent(n)`, that are true. */
  readonly overrideLabels: readonly string[];
  readonly fetchObserver?: FetchObserver | undefined;
  readonly observe: GatewayObserver;
}

interface SupergraphParts {
  readonly supergraph: DocumentNode;
  readonly planner: SupergraphPlanner;
  /** From the plan cache, else by `planner`. */
  readonly plan: PlanOptions["plan"];
  /** Of the settings at this time: `checksKeys` remains. */
  readonly subgraphs: Subgraphs;
}

/** The supergraph's types, with those that clients do not see. The planner has validated the supergraph, so its directives are not checked. */
export function buildSupergraphSchema(supergraph: DocumentNode): GraphQLSchema {
  return buildASTSchema(supergraph, { assumeValid: true, assumeValidSDL: true });
}

/**
 * Each in its own iteration of the event loop, so that requests are served in between: a schema takes 5 ms for a supergraph of 50 KB and 15 ms for
 * 200 KB.
 */
async function buildSchemas(supergraph: DocumentNode, apiSdl: string) {
  await setImmediate();
  const supergraphSchema = buildSupergraphSchema(supergraph);
  await setImmediate();
  const apiSchema = buildASTSchema(parse(apiSdl, { noLocation: true }), { assumeValidSDL: true });
  addRangeCheckToCustomScalars(apiSchema);
  await setImmediate();
  return { supergraphSchema, apiSchema };
}

export async function createSupergraphStages(
  { supergraph, planner, plan, subgraphs }: SupergraphParts,
  o: StagesOptions,
): Promise<SupergraphStages> {
  const { supergraphSchema, apiSchema } = await buildSchemas(supergraph, planner.apiSdl);
  const checksKeys = (service: string) => subgraphs.get(service)?.settings.checksKeys ?? true;
  const types = createSupergraphTypes(supergraphSchema);
  const stoppedKeyAdditions = createStoppedKeyAdditions();
  const { aliasPrefix, overrideLabels } = planner;
  const compile = createCompiler({ types, stoppedKeyAdditions, apiSchema, aliasPrefix, checksKeys });
  const onCompiled = ({ isMerged, fetches }: CompiledPlan) =>
    o.observe({ kind: "plan-compiled", isMerged, fetchCount: fetches.length });
  const listCombinations = createOverrideCombinations({ apiSchema, overrideLabels, enabledLabels: o.overrideLabels });
  const planStage = createPlanStage({ apiSchema, aliasPrefix, plan, compile, onCompiled, listCombinations });
  const introspection = createIntrospection({
    apiSchema,
    standard: planner.introspection,
    executeInWorker: planner.introspect,
    bytesMax: o.introspectionBytesMax,
    onEvicted: () => o.observe({ kind: "cache-evicted", cache: "introspection" }),
  });
  const redactPath = createPathRedactor(supergraphSchema);
  const runFetches = createRunStage({
    stoppedKeyAdditions,
    entityCache: o.entityCache,
    fetchSharing: o.fetchSharing,
    fetch: createFetch(o),
    mergeRules: {
      isObjectType: (name) => typeof name === "string" && isObjectType(supergraphSchema.getType(name)),
      applies: types.applies,
    },
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
    ...planStage,
    apiSchema,
    run(plan, operation, variables, scope) {
      const introspected = introspection.read(plan, operation, variables, scope.cpu);
      if (!(introspected instanceof Promise)) return runFetches(plan, variables, scope, introspected);
      return introspected.then((values) => runFetches(plan, variables, scope, values));
    },
    shape(plan, result, operation, scope) {
      // If all fetches of the run are shared, the body is written once for all client requests that got the same data.
      // A result with errors is not memoized, so the body of a developer's request is not another client's.
      const explainFor = scope.fetchReports && scope.requestId;
      const body = memoizeIfShared(result.dataJoins, plan, result, () => writeResponseBody(plan, result, explainFor));
      for (const bytes of result.ownBytes) releaseBytes(bytes);
      if (body.problems.length > 0) reportRejectedValues(body.problems, operation, scope);
      return body;
    },
    sizeOfIntrospection: introspection.size,
  };
}
