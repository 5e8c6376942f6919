// The stages plan, run and shape over one supergraph. `pipeline.ts` says where they stand in the life of a request.
import { buildASTSchema, type DocumentNode, type GraphQLSchema, isObjectType } from "graphql";
import type { AdmittedOperation } from "./parse/validated-operation.ts";
import { createCompiler } from "./plan/compile/compile.ts";
import type { CompiledPlan } from "./plan/compile/compiled-plan.ts";
import { createStoppedKeyChecks } from "./plan/compile/key-checks.ts";
import { createOverrideCombinations } from "./plan/override-combinations.ts";
import { createPlanStage, type PlanOptions } from "./plan/plan.ts";
import { createSupergraphTypes } from "./plan/compile/supergraph-types.ts";
import { createSharing } from "./run/fetch-sharing.ts";
import {
  createIntrospection,
  type Introspection,
  type IntrospectionOptions,
} from "./plan/introspection/introspection.ts";
import type { RequestScope } from "./run/request-scope.ts";
import { createRunStage, type RunResult } from "./run/run.ts";
import { deriveFrom } from "./run/accept-response.ts";
import type { SubgraphClient } from "./run/subgraph-client.ts";
import { createTellPath } from "./run/redact-path.ts";
import { isDataNullSoFar, writeAnswerBody } from "./shape/response-body.ts";
import type { FieldProblem } from "./shape/write-data.ts";
import type { EngineTimings } from "./shape/developer.ts";
import type { FetchObserver } from "./telemetry/fetch-observer.ts";
import type { Observe } from "./telemetry/observation-log.ts";
import type { Told } from "./telemetry/request-record.ts";

type Variables = Readonly<Record<string, unknown>>;

export interface Engine {
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
  /**
   * Plans, fetches and writes. Rejects with a Refusal (such as OPERATION_TOO_COMPLEX) or with a bug.
   * @param variables as provided, already found acceptable.
   */
  execute(admitted: AdmittedOperation, variables: Variables, scope: RequestScope): Promise<EngineAnswer>;
  /** The query plan of a request of this trace as JSON, for a developer. */
  explain(admitted: AdmittedOperation, variables: Variables, traceId: string): Promise<unknown>;
  /** Plans and compiles an operation before clients send it, for each combination of override labels. */
  prepare(admitted: AdmittedOperation, variables: Variables): Promise<void>;
  /** The values of `@skip` and `@include` variables for which an operation has been planned. */
  conditionsOf(admitted: AdmittedOperation): readonly Variables[];
  readonly sizeOfIntrospection: Introspection["size"];
}

/** `body` is the whole JSON answer, `{"data":…}` with masked `errors` in it and no `extensions`. */
export interface EngineAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Undefined: all is well. */
  readonly told: Told | undefined;
  /** Told when the scope is timed. */
  readonly timings?: EngineTimings;
}

export interface EngineOptions {
  readonly apiSchema: GraphQLSchema;
  readonly introspection: Pick<IntrospectionOptions, "standard" | "executeInThread" | "bytesMax">;
  /** The supergraph's own, with what clients do not see. */
  readonly supergraphSchema: GraphQLSchema;
  readonly aliasPrefix: string;
  /** The planner: takes the text of a normalized operation. */
  readonly plan: PlanOptions["plan"];
  /** The override labels that the plan of each field depends on, by field coordinate. */
  readonly overrideLabels: ReadonlyMap<string, readonly string[]>;
  /** Override labels other than `percent(n)` that are true. */
  readonly enabledLabels: readonly string[];
  readonly clientOf: (service: string) => SubgraphClient;
  /** False for a subgraph whose entities' keys are not checked. */
  readonly checksKeys: (service: string) => boolean;
  /** Whether equal reads under way are one. */
  readonly fetchSharing: boolean;
  /** Undefined where nobody watches. */
  readonly fetches?: FetchObserver | undefined;
  readonly observe: Observe;
}

/** A supergraph's types, those included that clients do not see. Its directives are read by us, not checked. */
export function buildSupergraphSchema(supergraph: DocumentNode): GraphQLSchema {
  return buildASTSchema(supergraph, { assumeValid: true, assumeValidSDL: true });
}

export function createEngine(o: EngineOptions): Engine {
  const types = createSupergraphTypes(o.supergraphSchema);
  const stoppedKeyChecks = createStoppedKeyChecks();
  const compile = createCompiler({ types, stoppedKeyChecks, ...o });
  const onCompiled = ({ isMerged, fetches }: CompiledPlan) =>
    o.observe({ kind: "plan-compiled", isMerged, fetchCount: fetches.length });
  const listCombinations = createOverrideCombinations(o);
  const planning = createPlanStage({ ...o, compile, onCompiled, listCombinations });
  const isObjectTypeName = (name: unknown) =>
    typeof name === "string" && isObjectType(o.supergraphSchema.getType(name));
  const tellPath = createTellPath(o.supergraphSchema);
  const run = createRunStage({
    clientOf: o.clientOf,
    stoppedKeyChecks,
    sharing: o.fetchSharing ? createSharing() : undefined,
    fetches: o.fetches,
    mergeRules: { isObjectType: isObjectTypeName, applies: types.applies },
    observe: o.observe,
    tellPath,
    isDataNull: isDataNullSoFar,
  });
  const introspection = createIntrospection({
    apiSchema: o.apiSchema,
    ...o.introspection,
    onEvicted: () => o.observe({ kind: "cache-evicted", cache: "introspection" }),
  });

  function reportRefusedValues(
    problems: readonly FieldProblem[],
    { identity }: AdmittedOperation,
    { record, requestId, trace: { traceId } }: RequestScope,
  ): void {
    const [first] = problems;
    if (!first) return;
    const { service = "gateway", code } = first;
    record?.noteFailure({ service, replica: undefined, reason: code });
    const redacted = problems.map((problem) => ({ path: tellPath(problem.path), code: problem.code }));
    const about = { requestId, traceId, ...identity, service, code };
    o.observe({ kind: "values-refused", ...about, problems: redacted });
  }

  async function execute(admitted: AdmittedOperation, variables: Variables, scope: RequestScope) {
    const { record, trace } = scope;
    record?.enter("plan");
    const startedMs = scope.isTimed ? performance.now() : 0;
    const planned = planning.plan(admitted, variables, trace.traceId);
    const compiled = planned instanceof Promise ? await planned : planned;
    record?.enter("run");
    const plannedMs = scope.isTimed ? performance.now() : 0;
    const introspected = introspection.read(compiled, admitted, variables);
    const known = introspected instanceof Promise ? await introspected : introspected;
    const result = await run(compiled, variables, scope, known);
    const ranMs = scope.isTimed ? performance.now() : 0;
    record?.enter("shape");
    const { body, problems, told } = writeResult(compiled, result);
    if (problems.length > 0) reportRefusedValues(problems, admitted, scope);
    if (!scope.isTimed) return { status: 200, body, told };
    const timings = { planMs: plannedMs - startedMs, runMs: ranMs - plannedMs, shapeMs: performance.now() - ranMs };
    return { status: 200, body, told, timings };
  }

  return {
    apiSchema: o.apiSchema,
    execute,
    explain: planning.explain,
    prepare: planning.prepare,
    conditionsOf: planning.conditionsOf,
    sizeOfIntrospection: introspection.size,
  };
}

/** The bytes of a shared answer are shared too. */
function writeResult(plan: CompiledPlan, result: RunResult) {
  return deriveFrom(result.joins, plan, result, () => writeAnswerBody(plan, result));
}
