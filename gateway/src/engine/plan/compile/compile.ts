// Stage 3 of 5: plan, step compile. Compiles a query plan (compiled-plan.ts) on the main thread, once per variant of an operation.
import type { PlanNode, QueryPlan } from "@apollo/query-planner";
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { findIntrospectionFields } from "../introspection/introspection-fields.ts";
import { collectFields, responseNameOf } from "../normalize/collect-fields.ts";
import type { NormalizedOperation } from "../normalize/normalize.ts";
import { createPlannerKeys, type PlannerKeys } from "../normalize/planner-keys.ts";
import { compileRequests, type RequestCompilerOptions } from "./compile-requests.ts";
import type { CompiledFetch, CompiledPlan, CompiledRequest, RequestPart } from "./compiled-plan.ts";
import { needsMerging } from "./merge-detection.ts";
import { createRootPosition } from "./positions.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

export interface CompilerOptions extends RequestCompilerOptions {
  readonly apiSchema: GraphQLSchema;
}

/**
 * @param plan without a node if no fetch is needed.
 * @param addRetainedBytes called once now, and for each layout and each subset of a request that is created later.
 */
export type Compile = (
  normalized: Pick<NormalizedOperation, "client" | "rejectedFields">,
  plan: QueryPlan,
  addRetainedBytes: (bytes: number) => void,
) => CompiledPlan;

/** Estimated bytes of a plan without its layouts, compared with measured heap sizes in `gateway/test/retention.test.ts`. */
const retainedBytes = { plan: 5_000, fetch: 7_000, selection: 400, character: 4 } as const;

export function createCompiler(o: CompilerOptions): Compile {
  return ({ client, rejectedFields }, plan, addRetainedBytes) => {
    const rootType = o.types.schema.getRootType(client.operation);
    if (!rootType) throw new Error(`The supergraph has no ${client.operation}s`);
    const clientKeyOf = createPlannerKeys(client, o.aliasPrefix);
    const rootKeys = listRootKeys(client, rootType, clientKeyOf, o.types);
    const node = plan.node && requirePlanNode(plan.node);
    const onSubset = (request: CompiledRequest) => addRetainedBytes(estimateRequest(request));
    const { parts, fetches, fetchKeyOf } = compileRequests(node, rootKeys, o, onSubset);
    const hasContexts = fetches.some(({ contextArguments }) => contextArguments.length > 0);
    const isMerged = hasContexts || needsMerging(fetches, o.types, fetchKeyOf);
    const introspection = findIntrospectionFields(client, clientKeyOf, rejectedFields);
    addRetainedBytes(estimateBytes(client, fetches, parts));

    const root = createRootPosition(
      {
        types: o.types,
        findApiType: (name: string) => o.apiSchema.getType(name),
        fetches,
        isMerged,
        clientKeyOf,
        rejectedFields,
        fetchKeyOf,
        // The values of the introspection fields are one more data join, after those of the fetches.
        introspection: introspection && { joinIndex: fetches.length, findAlias: introspection.findAlias },
        addRetainedBytes,
      },
      rootType,
      [client.selectionSet],
    );
    return { kind: client.operation, parts, fetches, root, isMerged, introspection: introspection?.selectionSet };
  };
}

function requirePlanNode(node: NonNullable<QueryPlan["node"]>): PlanNode {
  if (node.kind === "Subscription") throw new Error("Subscriptions are rejected before planning");
  return node;
}

function listRootKeys(
  { selectionSet }: OperationDefinitionNode,
  rootType: GraphQLObjectType,
  clientKeyOf: PlannerKeys,
  types: SupergraphTypes,
): readonly string[] {
  const applies = (condition: string) => types.applies(condition, rootType.name);
  const fields = [...collectFields([selectionSet], applies, responseNameOf).values()];
  // Fields of one object with one response name have the same name and arguments, and so the same planner key.
  // No list of `fields` is empty: the check is for the type.
  return fields.flatMap(([field]) => (field ? clientKeyOf(field) : []));
}

function estimateBytes(
  client: OperationDefinitionNode,
  fetches: readonly CompiledFetch[],
  parts: readonly RequestPart[],
): number {
  const selectionLists = new Set<SelectionSetNode["selections"]>();
  addSelections(client.selectionSet, selectionLists);
  for (const { selected } of fetches) addSelections(selected, selectionLists);
  const selectionCount = [...selectionLists].reduce((sum, { length }) => sum + length, 0);
  const requests = new Set(parts.map(({ request }) => request));
  const requestBytes = [...requests].reduce((sum, request) => sum + estimateRequest(request), 0);
  return retainedBytes.plan + selectionCount * retainedBytes.selection + requestBytes;
}

function estimateRequest({ fetches, currentText }: CompiledRequest): number {
  return fetches.length * retainedBytes.fetch + currentText().head.length * retainedBytes.character;
}

/** A named fragment counts once: the inline fragments that replace its spreads share one list. */
function addSelections({ selections }: SelectionSetNode, lists: Set<SelectionSetNode["selections"]>): void {
  if (lists.has(selections)) return;
  lists.add(selections);
  for (const selection of selections) {
    if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet) addSelections(selection.selectionSet, lists);
  }
}
