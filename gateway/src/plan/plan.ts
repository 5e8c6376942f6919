// Stage 3 of 5: plan. Finds or creates the compiled plan of an operation, once per request. A *variant* is the plan for one combination of the
// values of `@skip`/`@include` variables, of nulls in non-null arguments, and of override labels (progressive `@override`).
//
// The steps for a variant that is not compiled yet, in this order:
//   normalize       resolves `@skip` and `@include`, inlines fragments, and gives aliases a prefix
//   plan            gets the query plan of the normalized operation from plan-cache.ts. If it is not there, a worker of the planner pool (planner/)
//                   runs Apollo's planner
//   compile         prepares the query plan for execution
// `__schema` and `__type` are not planned: at the start of stage 4, introspection/ executes them over the API schema.
import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, type VariableDefinitionNode } from "graphql";
import { countCpu, type DocumentCpu } from "../document-cpu.ts";
import { Rejection } from "../errors/rejections.ts";
import type { ValidatedOperation, Variables } from "../parse/validated-operation.ts";
import type { Compile } from "./compile/compile.ts";
import type { CompiledPlan } from "./compile/compiled-plan.ts";
import { printMarked, restoreMarked } from "./normalize/big-literals.ts";
import { normalize, type NormalizeOptions } from "./normalize/normalize.ts";
import { listStrictVariables } from "./normalize/null-arguments.ts";
import { chooseCombination, type OverrideCombination } from "./override-combinations.ts";
import { listConditionVariables } from "./normalize/resolve-conditions.ts";

export interface PlanOptions extends NormalizeOptions {
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
   * @param cpu counts the CPU time that this thread takes for a variant that is not compiled yet.
   * @throws Rejection (the promise rejects) OPERATION_NOT_RESOLVABLE; BAD_USER_INPUT if a condition or an argument of a directive is null; or one of the planner pool, such as OPERATION_TOO_COMPLEX.
   */
  plan(
    validated: ValidatedOperation,
    variables: Variables,
    traceId: string,
    cpu?: DocumentCpu,
  ): CompiledPlan | Promise<CompiledPlan>;
  /** The query plan as a JSON value, for developers. Nothing is compiled. Parameters and errors as `plan`. */
  explain(validated: ValidatedOperation, variables: Variables, traceId: string): Promise<unknown>;
  /** Plans and compiles the variants for these variables and all combinations of override labels, before clients request them. */
  prepare(validated: ValidatedOperation, variables: Variables): Promise<void>;
  /** The values of the variables that select variants, for which the operation has variants. */
  conditionsOf(validated: ValidatedOperation): readonly Variables[];
}

/** The most variants of one operation. If there are more, the variant that was created first is evicted. */
const variantsMax = 64;

interface Variants {
  /** The variables that select the variant. */
  readonly names: readonly SelectingVariable[];
  readonly combinations: readonly OverrideCombination[];
  /** By `conditionValues` and the labels that are true. In order of creation. */
  readonly byKey: Map<string, Variant>;
}

interface SelectingVariable {
  readonly name: string;
  /** Whether it occurs in `@skip` or `@include`. Otherwise in a non-null argument, and it matters only whether it is null. */
  readonly isCondition: boolean;
}

interface Variant {
  /** The values of conditions, and null for those other variables that are null. */
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
  /** Subtracts all bytes that were added. Later calls of both functions do nothing: a plan that was evicted can still be in use. */
  release(): void;
}

export function createPlanStage(options: PlanOptions): PlanStage {
  const variantsByOperation = new WeakMap<ValidatedOperation, Variants>();

  async function compileVariant(
    validated: ValidatedOperation,
    conditions: Variables,
    combination: OverrideCombination,
    retention: Retention,
    cpu: DocumentCpu,
  ): Promise<CompiledPlan> {
    const { normalized, plan } = await countCpu(cpu, () => queryPlanFor(validated, conditions, combination));
    // `compile` reports the size of the plan, and later of each object layout that requests add to it.
    const compiled = countCpu(cpu, () => options.compile(normalized, plan, retention.add));
    options.onCompiled(compiled);
    return compiled;
  }

  /** @returns the query plan, and the normalized operation, which `compile` also needs. */
  async function queryPlanFor(validated: ValidatedOperation, conditions: Variables, { labels }: OverrideCombination) {
    const normalized = normalize(validated.document, validated.operation, conditions, options);
    const { planned } = normalized;
    // No fetch is needed: the operation selects only introspection fields, and `__typename` at the root.
    if (!planned) return { normalized, plan: { kind: "QueryPlan" } satisfies QueryPlan };
    const planJson = await options.plan(printMarked(planned, options.apiSchema), labels);
    const plan = JSON.parse(restoreMarked(planJson)) as QueryPlan;
    // No subgraph has a path to some field (rewrite/plan-resolvable.ts).
    if (!plan.node) throw new Rejection("OPERATION_NOT_RESOLVABLE");
    return { normalized, plan };
  }

  function variantsOf(validated: ValidatedOperation): Variants {
    const known = variantsByOperation.get(validated);
    if (known) return known;
    const variants = createVariants(validated, options);
    variantsByOperation.set(validated, variants);
    return variants;
  }

  function planVariant(
    validated: ValidatedOperation,
    variables: Variables,
    { names, byKey }: Variants,
    combination: OverrideCombination,
    cpu: DocumentCpu = { documentCpuMs: 0 },
  ): CompiledPlan | Promise<CompiledPlan> {
    const conditions = readConditions(validated.operation, names, variables);
    const conditionValues = names.map(({ name }) => String(conditions[name])).join();
    const key = combination.labels.length === 0 ? conditionValues : `${conditionValues} ${combination.labels.join()}`;
    const cached = byKey.get(key);
    if (cached) return cached.plan;
    const retention = createRetention(validated);
    const plan = compileVariant(validated, conditions, combination, retention, cpu);
    addVariant(byKey, key, { conditions, conditionValues, plan, retention }, plan);
    return plan;
  }

  return {
    plan(validated, variables, traceId, cpu) {
      const variants = variantsOf(validated);
      return planVariant(validated, variables, variants, chooseCombination(variants.combinations, traceId), cpu);
    },
    async explain(validated, variables, traceId) {
      const { names, combinations } = variantsOf(validated);
      const conditions = readConditions(validated.operation, names, variables);
      const { plan } = await queryPlanFor(validated, conditions, chooseCombination(combinations, traceId));
      return plan;
    },
    async prepare(validated, variables) {
      const variants = variantsOf(validated);
      for (const combination of variants.combinations) await planVariant(validated, variables, variants, combination);
    },
    conditionsOf(validated) {
      const variants = variantsByOperation.get(validated)?.byKey.values() ?? [];
      // A Map, because variants that differ only in labels have the same conditions.
      const conditionsByValues = new Map<string, Variables>();
      for (const { conditionValues, conditions } of variants) conditionsByValues.set(conditionValues, conditions);
      return [...conditionsByValues.values()];
    },
  };
}

/** Adds a variant, and evicts the oldest if there are too many. Removes the new variant if its compilation fails: the next request tries again. */
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
  return { names, combinations: listCombinations(validated), byKey: new Map() };
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

/** The default of a variable if it is Boolean or null. */
function readDefault(name: string, definitions: readonly VariableDefinitionNode[]): boolean | null | undefined {
  const definition = definitions.find(({ variable }) => variable.name.value === name);
  const defaultValue = definition?.defaultValue;
  if (defaultValue?.kind === Kind.NULL) return null;
  return defaultValue?.kind === Kind.BOOLEAN ? defaultValue.value : undefined;
}
