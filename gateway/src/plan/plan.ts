// Stage 3 of 5: plan. Finds or creates the compiled plan of an operation, once per request. A *variant* is the plan for one combination of the
// values of `@skip`/`@include` variables and of override labels (progressive `@override`).
//
// The steps for a variant that is not compiled yet, in this order:
//   normalize       resolves `@skip` and `@include`, inlines fragments, and gives aliases a prefix
//   plan            gets the query plan from plan-cache.ts, also if another document has the same normalized operation, or else from the planner pool
//                   (planner/), whose workers run Apollo's planner (rewrite/)
//   compile         prepares the query plan for execution
// `__schema` and `__type` are not planned: at the start of stage 4, introspection/ executes them over the API schema.
import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, print } from "graphql";
import { Rejection } from "../errors/rejections.ts";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import type { Compile } from "./compile/compile.ts";
import type { CompiledPlan } from "./compile/compiled-plan.ts";
import { normalize } from "./normalize/normalize.ts";
import { chooseCombination, type OverrideCombination } from "./override-combinations.ts";
import { listConditionVariables } from "./normalize/resolve-conditions.ts";

type Variables = Readonly<Record<string, unknown>>;

export interface PlanOptions {
  readonly aliasPrefix: string;
  /** Plans the text of a normalized operation. Returns a `QueryPlan` as JSON. */
  readonly plan: (operationText: string, enabledLabels: readonly string[]) => Promise<string>;
  readonly compile: Compile;
  /** Lists the combinations of override labels that requests for the operation can have. */
  readonly listCombinations: (validated: ValidatedOperation) => readonly OverrideCombination[];
  /** Called for each variant that is compiled. */
  readonly onCompiled: (plan: CompiledPlan) => void;
}

export interface PlanStage {
  /**
   * Returns the compiled plan, or a promise of it if the variant is not compiled yet.
   * @param variables as the client sent them, validated, without defaults.
   * @param traceId chooses the override labels.
   * @throws Rejection (the promise rejects) OPERATION_NOT_RESOLVABLE; BAD_USER_INPUT if a condition is null; or as SupergraphPlanner.plan.
   */
  plan(validated: ValidatedOperation, variables: Variables, traceId: string): CompiledPlan | Promise<CompiledPlan>;
  /** The query plan as a JSON value, for developers. Nothing is compiled. Parameters and errors as `plan`. */
  explain(validated: ValidatedOperation, variables: Variables, traceId: string): Promise<unknown>;
  /** Plans and compiles the variants for these variables and all combinations of override labels, before clients request them. */
  prepare(validated: ValidatedOperation, variables: Variables): Promise<void>;
  /** The values of `@skip` and `@include` variables for which the operation has variants. */
  conditionsOf(validated: ValidatedOperation): readonly Variables[];
}

/** The most variants of one operation. If there are more, the variant that was created first is evicted. */
const variantsMax = 64;

interface Variants {
  /** The variables of `@skip` and `@include`. */
  readonly conditionNames: readonly string[];
  readonly combinations: readonly OverrideCombination[];
  /** By `conditionValues` and the labels that are true. In order of creation. */
  readonly byKey: Map<string, Variant>;
}

interface Variant {
  readonly conditions: Variables;
  /** The values of the conditions, joined by commas: equal for variants that differ only in labels. */
  readonly conditionValues: string;
  /** A promise until the plan is compiled. Later requests get the plan itself, so they need no `await`. */
  plan: CompiledPlan | Promise<CompiledPlan>;
  readonly retention: Retention;
}

/** Adds the bytes of one variant to the size of its operation's document in the operation store. */
interface Retention {
  add(bytes: number): void;
  /** Subtracts all bytes that were added. Later calls of both functions do nothing. */
  release(): void;
}

export function createPlanStage(o: PlanOptions): PlanStage {
  const variantsByOperation = new WeakMap<ValidatedOperation, Variants>();

  async function compileVariant(
    validated: ValidatedOperation,
    conditions: Variables,
    combination: OverrideCombination,
    retention: Retention,
  ): Promise<CompiledPlan> {
    const { client, plan } = await queryPlanFor(validated, conditions, combination);
    const compiled = o.compile(client, plan, retention.add);
    o.onCompiled(compiled);
    return compiled;
  }

  /** @returns the query plan, and as `client` the client's normalized operation, which `compile` also needs. */
  async function queryPlanFor(validated: ValidatedOperation, conditions: Variables, { labels }: OverrideCombination) {
    const { client, planned } = normalize(validated.document, validated.operation, conditions, o.aliasPrefix);
    // No fetch is needed: the operation selects only introspection fields, and `__typename` at the root.
    if (!planned) return { client, plan: { kind: "QueryPlan" } satisfies QueryPlan };
    const plan = JSON.parse(await o.plan(print(planned), labels)) as QueryPlan;
    // No subgraph has a path to some field (rewrite/plan-resolvable.ts).
    if (!plan.node) throw new Rejection("OPERATION_NOT_RESOLVABLE");
    return { client, plan };
  }

  function variantsOf(validated: ValidatedOperation): Variants {
    const variants = variantsByOperation.get(validated) ?? createVariants(validated, o.listCombinations(validated));
    variantsByOperation.set(validated, variants);
    return variants;
  }

  function planVariant(
    validated: ValidatedOperation,
    variables: Variables,
    { conditionNames, byKey }: Variants,
    combination: OverrideCombination,
  ): Variant["plan"] {
    const conditions = readConditions(validated.operation, conditionNames, variables);
    const conditionValues = conditionNames.map((name) => String(conditions[name])).join();
    const key = combination.labels.length === 0 ? conditionValues : `${conditionValues} ${combination.labels.join()}`;
    const cached = byKey.get(key);
    if (cached) return cached.plan;
    const retention = createRetention(validated);
    const plan = compileVariant(validated, conditions, combination, retention);
    store(byKey, key, { conditions, conditionValues, plan, retention }, plan);
    return plan;
  }

  return {
    plan(validated, variables, traceId) {
      const variants = variantsOf(validated);
      return planVariant(validated, variables, variants, chooseCombination(variants.combinations, traceId));
    },
    async explain(validated, variables, traceId) {
      const { conditionNames, combinations } = variantsOf(validated);
      const conditions = readConditions(validated.operation, conditionNames, variables);
      return (await queryPlanFor(validated, conditions, chooseCombination(combinations, traceId))).plan;
    },
    async prepare(validated, variables) {
      const variants = variantsOf(validated);
      for (const combination of variants.combinations) await planVariant(validated, variables, variants, combination);
    },
    conditionsOf(validated) {
      const variants = [...(variantsByOperation.get(validated)?.byKey.values() ?? [])];
      return [...new Map(variants.map((variant) => [variant.conditionValues, variant.conditions])).values()];
    },
  };
}

/** Adds a variant, and evicts the oldest if there are too many. Removes the new variant if its compilation fails: the next request tries again. */
function store(byKey: Variants["byKey"], key: string, variant: Variant, plan: Promise<CompiledPlan>): void {
  byKey.set(key, variant);
  const [oldest] = byKey.size > variantsMax ? byKey : [];
  if (oldest) {
    byKey.delete(oldest[0]);
    oldest[1].retention.release();
  }
  plan.then(
    (compiled) => void (variant.plan = compiled),
    () => {
      variant.retention.release();
      if (byKey.get(key) === variant) byKey.delete(key);
    },
  );
}

function createRetention(validated: ValidatedOperation): Retention {
  let retainedBytes = 0;
  let isReleased = false;
  return {
    add(bytes) {
      if (isReleased) return;
      retainedBytes += bytes;
      validated.addRetainedBytes(bytes);
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      validated.addRetainedBytes(-retainedBytes);
    },
  };
}

function createVariants(
  { document, operation }: ValidatedOperation,
  combinations: readonly OverrideCombination[],
): Variants {
  return { conditionNames: listConditionVariables(document, operation), combinations, byKey: new Map() };
}

/** The coerced values: a variable that the client did not send has its default, or else null (GraphQL spec, "CoerceVariableValues"). */
function readConditions(
  { variableDefinitions = [] }: OperationDefinitionNode,
  names: readonly string[],
  variables: Variables,
): Variables {
  if (names.length === 0) return {};
  const values = names.map((name) => {
    if (Object.hasOwn(variables, name)) return [name, variables[name]];
    const definition = variableDefinitions.find(({ variable }) => variable.name.value === name);
    const defaultValue = definition?.defaultValue;
    return [name, defaultValue?.kind === Kind.BOOLEAN ? defaultValue.value : null];
  });
  return Object.fromEntries(values) as Variables;
}
