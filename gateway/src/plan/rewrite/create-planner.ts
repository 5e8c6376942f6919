// Stage 3 of 5: how to answer? The query planner with all that makes its plans right. Synchronous and slow: for worker threads.
import { operationFromDocument, Supergraph } from "@apollo/federation-internals";
import { type QueryPlan, QueryPlanner } from "@apollo/query-planner";
import { parse, printSchema, visit } from "graphql";
import { chooseAliasPrefix } from "../normalize.ts";

export interface Planner {
  /** What clients see: the supergraph without its directives and hidden parts. */
  readonly apiSdl: string;
  /** The prefix that `normalize` has to give to aliases in the operations to plan. */
  readonly aliasPrefix: string;
  /**
   * @param operationText the text of a `NormalizedOperation`'s `planned`.
   * @returns plain JSON.
   * @throws Error when the operation is too complex, by the planner's own limits.
   */
  plan(operationText: string): QueryPlan;
}

/** @throws Error when the supergraph is not one, or needs a feature that is not served here. */
export function createQueryPlanner(supergraphSdl: string): Planner {
  const supergraph = Supergraph.build(supergraphSdl);
  const planner = new QueryPlanner(supergraph, { reuseQueryFragments: false });
  const apiSchema = supergraph.apiSchema();
  return {
    apiSdl: printSchema(apiSchema.toGraphQLJSSchema()),
    aliasPrefix: chooseAliasPrefix(fieldNamesOf(supergraphSdl)),
    plan: (operationText) =>
      planner.buildQueryPlan(operationFromDocument(apiSchema, parse(operationText), { validate: false })),
  };
}

function fieldNamesOf(supergraphSdl: string): ReadonlySet<string> {
  const names = new Set<string>();
  visit(parse(supergraphSdl), { FieldDefinition: ({ name }) => void names.add(name.value) });
  return names;
}
