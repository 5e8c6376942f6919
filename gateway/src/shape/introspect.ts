// Stage 5 of 5: say it. What the schema says about itself, answered from the API schema alone.
import { type DocumentNode, execute, type GraphQLSchema, Kind, OperationTypeNode } from "graphql";
import type { AdmittedOperation } from "../parse/admitted-operation.ts";
import type { CompiledPlan } from "../plan/compiled-plan.ts";

type Json = Readonly<Record<string, unknown>>;

/** By the names of the plan's questions; undefined when nothing was asked. */
export type Introspect = (plan: CompiledPlan, admitted: AdmittedOperation, variables: Json) => Json | undefined;

/** Answers are kept with their plan where no variable is defined: one schema says always the same. */
export function createIntrospect(apiSchema: GraphQLSchema): Introspect {
  const known = new WeakMap<CompiledPlan, Json>();

  return (plan, { operation }, variables) => {
    if (!plan.introspection) return undefined;
    const kept = known.get(plan);
    if (kept) return kept;
    // Below a mutation, too, the schema is asked by a query.
    const definition = { ...operation, operation: OperationTypeNode.QUERY, selectionSet: plan.introspection };
    const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [definition] };
    const result = execute({ schema: apiSchema, document, variableValues: variables });
    if (result instanceof Promise) throw new Error("A schema answers at once");
    const data = result.data ?? {};
    if (!operation.variableDefinitions?.length) known.set(plan, data);
    return data;
  };
}
