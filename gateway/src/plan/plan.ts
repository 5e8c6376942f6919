// Stage 3 of 5: plan. The plan of an admitted operation, compiled once for each combination of its conditions
// and override labels.
import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, print } from "graphql";
import { Rejection } from "../errors/rejections.ts";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import type { Compile } from "./compile/compile.ts";
import type { CompiledPlan } from "./compile/compiled-plan.ts";
import { normalize } from "./normalize/normalize.ts";
import { chooseCombination, type OverrideCombination } from "./override-combinations.ts";
import { conditionVariables } from "./normalize/resolve-conditions.ts";

type Variables = Readonly<Record<string, unknown>>;

export interface PlanOptions {
  readonly aliasPrefix: string;
  /** The planner: takes the text of a normalized operation, and gives a `QueryPlan` as JSON. */
  readonly plan: (operationText: string, enabledLabels: readonly string[]) => Promise<string>;
  readonly compile: Compile;
  /** The combinations of override labels that requests for the operation can have. */
  readonly listCombinations: (admitted: ValidatedOperation) => readonly OverrideCombination[];
  readonly onCompiled: (plan: CompiledPlan) => void;
}

export interface PlanStage {
  /** The plan for a request of this trace; synchronous if it has been compiled. Rejects with a Rejection if the operation cannot be planned. */
  plan(admitted: ValidatedOperation, variables: Variables, traceId: string): CompiledPlan | Promise<CompiledPlan>;
  /** The query plan for a request of this trace, as JSON. */
  explain(admitted: ValidatedOperation, variables: Variables, traceId: string): Promise<unknown>;
  /** Plans and compiles the operation for each combination of override labels, so that no request waits for it. */
  prepare(admitted: ValidatedOperation, variables: Variables): Promise<void>;
  /** The values of conditions for which an operation has been planned. */
  conditionsOf(admitted: ValidatedOperation): readonly Variables[];
}

/** Compiled variants of one operation; the oldest is evicted. */
const variantsMax = 64;

interface Variants {
  /** The variables that decide `@skip` and `@include`. */
  readonly names: readonly string[];
  readonly combinations: readonly OverrideCombination[];
  /** By the values of the conditions and the labels that are true. */
  readonly byKey: Map<string, Variant>;
}

interface Variant {
  readonly conditions: Variables;
  /** Of the conditions. */
  readonly values: string;
  plan: CompiledPlan | Promise<CompiledPlan>;
  readonly retention: Retention;
}

/** Counts what a compiled variant retains as part of its operation. */
interface Retention {
  add(bytes: number): void;
  /** The variant is evicted. */
  release(): void;
}

export function createPlanStage(o: PlanOptions): PlanStage {
  const known = new WeakMap<ValidatedOperation, Variants>();

  async function compileNew(
    admitted: ValidatedOperation,
    conditions: Variables,
    combination: OverrideCombination,
    retention: Retention,
  ): Promise<CompiledPlan> {
    const { client, plan } = await planNew(admitted, conditions, combination);
    const compiled = o.compile(client, plan, retention.add);
    o.onCompiled(compiled);
    return compiled;
  }

  async function planNew(admitted: ValidatedOperation, conditions: Variables, { labels }: OverrideCombination) {
    const { client, planned } = normalize(admitted.document, admitted.operation, conditions, o.aliasPrefix);
    if (!planned) return { client, plan: { kind: "QueryPlan" } satisfies QueryPlan };
    const plan = JSON.parse(await o.plan(print(planned), labels)) as QueryPlan;
    if (!plan.node) throw new Rejection("OPERATION_NOT_RESOLVABLE");
    return { client, plan };
  }

  function variantsOf(admitted: ValidatedOperation): Variants {
    const variants = known.get(admitted) ?? createVariants(admitted, o.listCombinations(admitted));
    known.set(admitted, variants);
    return variants;
  }

  function planVariant(
    admitted: ValidatedOperation,
    variables: Variables,
    { names, byKey }: Variants,
    combination: OverrideCombination,
  ): Variant["plan"] {
    const conditions = readConditions(admitted.operation, names, variables);
    const values = names.map((name) => String(conditions[name])).join();
    const key = combination.labels.length === 0 ? values : `${values} ${combination.labels.join()}`;
    const found = byKey.get(key);
    if (found) return found.plan;
    const retention = createRetention(admitted);
    const plan = compileNew(admitted, conditions, combination, retention);
    store(byKey, key, { conditions, values, plan, retention }, plan);
    return plan;
  }

  return {
    plan(admitted, variables, traceId) {
      const variants = variantsOf(admitted);
      return planVariant(admitted, variables, variants, chooseCombination(variants.combinations, traceId));
    },
    async explain(admitted, variables, traceId) {
      const { names, combinations } = variantsOf(admitted);
      const conditions = readConditions(admitted.operation, names, variables);
      return (await planNew(admitted, conditions, chooseCombination(combinations, traceId))).plan;
    },
    async prepare(admitted, variables) {
      const variants = variantsOf(admitted);
      for (const combination of variants.combinations) await planVariant(admitted, variables, variants, combination);
    },
    conditionsOf(admitted) {
      const variants = [...(known.get(admitted)?.byKey.values() ?? [])];
      return [...new Map(variants.map(({ values, conditions }) => [values, conditions])).values()];
    },
  };
}

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

function createRetention(admitted: ValidatedOperation): Retention {
  let retainedBytes = 0;
  let isReleased = false;
  return {
    add(bytes) {
      if (isReleased) return;
      retainedBytes += bytes;
      admitted.retain(bytes);
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      admitted.retain(-retainedBytes);
    },
  };
}

function createVariants(
  { document, operation }: ValidatedOperation,
  combinations: readonly OverrideCombination[],
): Variants {
  return { names: conditionVariables(document, operation), combinations, byKey: new Map() };
}

/** As coerced: a variable that was not sent has its default (GraphQL spec, "CoerceVariableValues"). */
function readConditions(
  { variableDefinitions = [] }: OperationDefinitionNode,
  names: readonly string[],
  variables: Variables,
): Variables {
  if (names.length === 0) return {};
  const values = names.map((name) => {
    if (Object.hasOwn(variables, name)) return [name, variables[name]];
    const definition = variableDefinitions.find(({ variable }) => variable.name.value === name);
    const byDefault = definition?.defaultValue;
    return [name, byDefault?.kind === Kind.BOOLEAN ? byDefault.value : null];
  });
  return Object.fromEntries(values) as Variables;
}
