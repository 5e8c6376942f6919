// Stage 3 of 5: plan. Finds or creates the compiled plan of an operation, once per request. A *variant* is the plan for one combination of the values
// of `@skip`/`@include` variables, of nulls in non-null arguments, and of override labels. A new one is normalized (normalize/), planned
// (plan-cache.ts, else a worker of planner/ by rewrite/) and compiled (compile/). `__schema` and `__type` are executed over the API schema
// (introspection/).
import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, type VariableDefinitionNode } from "graphql";
import { countCpu, type DocumentCpu } from "../../document-cpu.ts";
import { Rejection } from "../../errors/rejections.ts";
import type { ValidatedOperation, Variables } from "../parse/validated-operation.ts";
import type { Compile } from "./compile/compile.ts";
import type { CompiledPlan } from "./compile/compiled-plan.ts";
import { printMarked, restoreMarked } from "./normalize/big-literals.ts";
import { normalize, type NormalizedOperation, type NormalizeOptions } from "./normalize/normalize.ts";
import { listStrictVariables } from "./normalize/null-arguments.ts";
import { chooseCombination, type OverrideCombination } from "./override-combinations.ts";
import { listConditionVariables } from "./normalize/resolve-conditions.ts";

export interface PlanOptions extends NormalizeOptions {
  /** Returns a `QueryPlan` as JSON. */
  readonly plan: (operationText: string, enabledLabels: readonly string[], cpu?: DocumentCpu) => Promise<string>;
  readonly compile: Compile;
  readonly listCombinations: (validated: ValidatedOperation) => readonly OverrideCombination[];
  readonly onCompiled: (plan: CompiledPlan) => void;
}

export interface PlanStage {
  /**
   * Returns a promise if the compiled plan is not ready.
   * @param variables as the client sent them, validated, without defaults.
   * @param cpu counts the CPU time that this thread takes for a new variant.
   * @throws Rejection OPERATION_NOT_RESOLVABLE; BAD_USER_INPUT if a condition or an argument of a directive is null; or of the planner pool.
   */
  plan(
    validated: ValidatedOperation,
    variables: Variables,
    traceId: string,
    cpu?: DocumentCpu,
  ): CompiledPlan | Promise<CompiledPlan>;
  /** Plans and compiles the variants for these variables and all combinations of override labels, before clients send the operation. */
  prepare(validated: ValidatedOperation, variables: Variables): Promise<void>;
  /**
   * Plans the variants for all combinations of the values of the variables in `@skip` and `@include` (of three variables at most), and of override
   * labels. Does not compile them.
   */
  planAhead(validated: ValidatedOperation): Promise<PlansAhead>;
  /** The plans of the same document, which a request then compiles without a planner. They are not evicted before. */
  addPlans(validated: ValidatedOperation, plans: PlansAhead): void;
  /** The values of the variables that select variants, for which the operation has been planned. */
  conditionsOf(validated: ValidatedOperation): readonly Variables[];
}

/** Plans as JSON, by variant. They refer to no object of the generation. */
export type PlansAhead = ReadonlyMap<string, string>;

/** With more variables, most combinations are never sent. */
const combinedVariablesMax = 3;

/** Then the variant that was created first is evicted. */
const variantsMax = 64;

interface PlannedOperation extends ValidatedOperation {
  /**
   * What is compiled for it. Not in a WeakMap: what only a WeakMap holds, V8 marks while the process pauses. With 100 MB of compiled plans, that took 90
   * of the 100 ms of each full collection.
   */
  variants?: Variants;
}

interface Variants {
  readonly names: readonly SelectingVariable[];
  readonly combinations: readonly OverrideCombination[];
  /** By `conditionValues` and labels, in order of creation. */
  readonly byKey: Map<string, Variant>;
  /** Of `addPlans`, by the same keys, until they are compiled. */
  readonly plannedAhead: Map<string, string>;
}

interface SelectingVariable {
  readonly name: string;
  /** In `@skip` or `@include`. Otherwise in a non-null argument, and it matters only whether it is null. */
  readonly isCondition: boolean;
}

interface Variant {
  readonly conditions: Variables;
  /** Equal for variants that differ only in labels. */
  readonly conditionValues: string;
  /** A promise until the plan is compiled: later requests need no `await`. */
  plan: CompiledPlan | Promise<CompiledPlan>;
  readonly retention: Retention;
}

/** The bytes of one variant, in the size of its operation's document. */
interface Retention {
  add(bytes: number): void;
  /** Later calls of both functions do nothing: a plan that was evicted can still be in use. */
  release(): void;
}

export function createPlanStage(options: PlanOptions): PlanStage {
  async function compileVariant(
    validated: ValidatedOperation,
    conditions: Variables,
    combination: OverrideCombination,
    plannedAhead: string | undefined,
    retention: Retention,
    cpu: DocumentCpu,
  ): Promise<CompiledPlan> {
    const { normalized, plan } = await countCpu(cpu, () =>
      queryPlanFor(validated, conditions, combination, plannedAhead, cpu, options),
    );
    const compiled = countCpu(cpu, () => options.compile(normalized, plan, retention.add));
    options.onCompiled(compiled);
    return compiled;
  }

  function variantsOf(validated: PlannedOperation): Variants {
    return (validated.variants ??= createVariants(validated, options));
  }

  function planVariant(
    validated: ValidatedOperation,
    variables: Variables,
    { names, byKey, plannedAhead }: Variants,
    combination: OverrideCombination,
    cpu: DocumentCpu = { documentCpuMs: 0 },
  ): CompiledPlan | Promise<CompiledPlan> {
    const { key, conditions, conditionValues } = identifyVariant(validated, variables, names, combination);
    const cached = byKey.get(key);
    if (cached) return cached.plan;
    const retention = createRetention(validated);
    const plan = compileVariant(validated, conditions, combination, plannedAhead.get(key), retention, cpu);
    plannedAhead.delete(key);
    addVariant(byKey, key, { conditions, conditionValues, plan, retention }, plan);
    return plan;
  }

  return {
    plan(validated, variables, traceId, cpu) {
      const variants = variantsOf(validated);
      return planVariant(validated, variables, variants, chooseCombination(variants.combinations, traceId), cpu);
    },
    async prepare(validated, variables) {
      const variants = variantsOf(validated);
      for (const combination of variants.combinations) await planVariant(validated, variables, variants, combination);
    },
    planAhead: (validated) => planAhead(validated, variantsOf(validated), options),
    addPlans(validated, plans) {
      const { byKey, plannedAhead } = variantsOf(validated);
      for (const [key, planJson] of plans) if (!byKey.has(key)) plannedAhead.set(key, planJson);
    },
    conditionsOf(validated: PlannedOperation) {
      const variants = validated.variants?.byKey.values() ?? [];
      // A Map, because variants that differ only in labels have the same conditions.
      const conditionsByValues = new Map([...variants].map((variant) => [variant.conditionValues, variant.conditions]));
      return [...conditionsByValues.values()];
    },
  };
}

async function planAhead(
  validated: ValidatedOperation,
  { names, combinations }: Variants,
  options: PlanOptions,
): Promise<PlansAhead> {
  const plans = new Map<string, string>();
  for (const variables of combineConditions(names)) {
    for (const combination of combinations) {
      const { key, conditions } = identifyVariant(validated, variables, names, combination);
      const normalized = normalize(validated.document, validated.operation, conditions, options);
      const planJson = await planJsonFor(normalized, combination, options);
      readPlan(planJson);
      if (planJson !== undefined) plans.set(key, planJson);
    }
  }
  return plans;
}

async function queryPlanFor(
  validated: ValidatedOperation,
  conditions: Variables,
  combination: OverrideCombination,
  plannedAhead: string | undefined,
  cpu: DocumentCpu,
  options: PlanOptions,
) {
  const normalized = normalize(validated.document, validated.operation, conditions, options);
  return { normalized, plan: readPlan(plannedAhead ?? (await planJsonFor(normalized, combination, options, cpu))) };
}

/** @returns undefined if no fetch is needed: the operation selects only introspection fields, and `__typename` at the root. */
async function planJsonFor(
  { planned }: NormalizedOperation,
  { labels }: OverrideCombination,
  { plan, apiSchema }: PlanOptions,
  cpu?: DocumentCpu,
): Promise<string | undefined> {
  return planned && plan(printMarked(planned, apiSchema), labels, cpu);
}

/** @throws Rejection if no subgraph has a path to some field (rewrite/plan-resolvable.ts). */
function readPlan(planJson: string | undefined): QueryPlan {
  if (planJson === undefined) return { kind: "QueryPlan" };
  const plan = JSON.parse(restoreMarked(planJson)) as QueryPlan;
  if (!plan.node) throw new Rejection("OPERATION_NOT_RESOLVABLE");
  return plan;
}

function identifyVariant(
  { operation }: ValidatedOperation,
  variables: Variables,
  names: readonly SelectingVariable[],
  { labels }: OverrideCombination,
) {
  const conditions = readConditions(operation, names, variables);
  const conditionValues = names.map(({ name }) => String(conditions[name])).join();
  const key = labels.length === 0 ? conditionValues : `${conditionValues} ${labels.join()}`;
  return { key, conditions, conditionValues };
}

/** Further variables are false. */
function combineConditions(variables: readonly SelectingVariable[]): readonly Variables[] {
  const names = variables.filter(({ isCondition }) => isCondition);
  const count = 2 ** Math.min(names.length, combinedVariablesMax);
  return Array.from({ length: count }, (_, bits) =>
    Object.fromEntries(names.map(({ name }, i) => [name, ((bits >> i) & 1) === 1])),
  );
}

/** Removes the new variant if its compilation fails: the next request tries again. */
function addVariant(byKey: Map<string, Variant>, key: string, variant: Variant, plan: Promise<CompiledPlan>): void {
  byKey.set(key, variant);
  if (byKey.size > variantsMax) evictOldest(byKey);

  const replacePromise = (compiled: CompiledPlan): void => {
    variant.plan = compiled;
  };
  const removeFailed = (): void => {
    variant.retention.release();
    if (byKey.get(key) === variant) byKey.delete(key);
  };
  plan.then(replacePromise, removeFailed);
}

function evictOldest(byKey: Map<string, Variant>): void {
  const [oldest] = byKey;
  if (!oldest) return;
  const [key, variant] = oldest;
  byKey.delete(key);
  variant.retention.release();
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

function createVariants(validated: ValidatedOperation, { apiSchema, listCombinations }: PlanOptions): Variants {
  const { document, operation } = validated;
  const conditions = new Set(listConditionVariables(document, operation));
  const strict = listStrictVariables(document, operation, apiSchema);
  const names = [...new Set([...conditions, ...strict])].map((name) => ({ name, isCondition: conditions.has(name) }));
  return { names, combinations: listCombinations(validated), byKey: new Map(), plannedAhead: new Map() };
}

/** The coerced values: a variable that the client did not send has its default (GraphQL spec, "CoerceVariableValues"). A condition without is null. */
function readConditions(
  { variableDefinitions = [] }: OperationDefinitionNode,
  names: readonly SelectingVariable[],
  variables: Variables,
): Variables {
  if (names.length === 0) return {};
  const values: [string, unknown][] = [];
  for (const { name, isCondition } of names) {
    const value = Object.hasOwn(variables, name) ? variables[name] : readDefault(name, variableDefinitions);
    if (isCondition || value === null) values.push([name, value ?? null]);
  }
  return Object.fromEntries(values);
}

function readDefault(name: string, definitions: readonly VariableDefinitionNode[]): boolean | null | undefined {
  const definition = definitions.find(({ variable }) => variable.name.value === name);
  const defaultValue = definition?.defaultValue;
  if (defaultValue?.kind === Kind.NULL) return null;
  return defaultValue?.kind === Kind.BOOLEAN ? defaultValue.value : undefined;
}
