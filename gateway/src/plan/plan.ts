// Stage 3 of 5: how to answer? The plan of an admitted operation, compiled once for each combination of its conditions.
import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, print } from "graphql";
import { Refusal } from "../errors.ts";
import type { AdmittedOperation } from "../parse/admitted-operation.ts";
import type { Compile } from "./compile.ts";
import type { CompiledPlan } from "./compiled-plan.ts";
import { normalize } from "./normalize.ts";
import { conditionVariables } from "./resolve-conditions.ts";

type Variables = Readonly<Record<string, unknown>>;

export interface PlanOptions {
  readonly aliasPrefix: string;
  /** The planner: takes the text of a normalized operation. */
  readonly plan: (operationText: string) => Promise<QueryPlan>;
  readonly compile: Compile;
  /** Told of each compilation. */
  readonly onCompiled: (plan: CompiledPlan) => void;
}

export interface PlanStage {
  /** At once for an operation that has been compiled; what is not fit to be planned is a Refusal. */
  plan(admitted: AdmittedOperation, variables: Variables): CompiledPlan | Promise<CompiledPlan>;
  /** The values of conditions for which an operation has been planned. */
  conditionsOf(admitted: AdmittedOperation): readonly Variables[];
}

/** Combinations of conditions that one operation keeps; the oldest is forgotten. */
const variantsMax = 32;

interface Variants {
  /** The variables that decide `@skip` and `@include`. */
  readonly names: readonly string[];
  readonly byValues: Map<string, Variant>;
}

interface Variant {
  readonly conditions: Variables;
  plan: CompiledPlan | Promise<CompiledPlan>;
}

export function createPlanStage(o: PlanOptions): PlanStage {
  const known = new WeakMap<AdmittedOperation, Variants>();

  async function compileNew(admitted: AdmittedOperation, conditions: Variables): Promise<CompiledPlan> {
    const { client, planned } = normalize(admitted.document, admitted.operation, conditions, o.aliasPrefix);
    const plan: QueryPlan = planned ? await o.plan(print(planned)) : { kind: "QueryPlan" };
    if (planned && !plan.node) throw new Refusal("OPERATION_NOT_RESOLVABLE");
    const compiled = o.compile(client, plan);
    o.onCompiled(compiled);
    return compiled;
  }

  function begin(admitted: AdmittedOperation, conditions: Variables, values: string, { byValues }: Variants): Variant {
    const plan = compileNew(admitted, conditions);
    const variant: Variant = { conditions, plan };
    byValues.set(values, variant);
    const oldest = byValues.size > variantsMax ? byValues.keys().next().value : undefined;
    if (oldest !== undefined) byValues.delete(oldest);
    plan.then(
      (compiled) => void (variant.plan = compiled),
      () => byValues.delete(values),
    );
    return variant;
  }

  return {
    plan(admitted, variables) {
      const variants = known.get(admitted) ?? createVariants(admitted);
      known.set(admitted, variants);
      const conditions = readConditions(admitted.operation, variants.names, variables);
      const values = variants.names.map((name) => String(conditions[name])).join();
      return (variants.byValues.get(values) ?? begin(admitted, conditions, values, variants)).plan;
    },
    conditionsOf: (admitted) => [...(known.get(admitted)?.byValues.values() ?? [])].map(({ conditions }) => conditions),
  };
}

function createVariants({ document, operation }: AdmittedOperation): Variants {
  return { names: conditionVariables(document, operation), byValues: new Map() };
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
