// Stage 3 of 5: how to answer? The planner's answer made ready to run: texts printed, readers and positions built, once for each operation.
import type { FetchNode, PlanNode, QueryPlan } from "@apollo/query-planner";
import {
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";
import type { CompiledFetch, CompiledPlan, KeyCheck, ObjectLayout, Step } from "./compiled-plan.ts";
import { createFetchDocument, type FetchDocument, findRenamedFields } from "./fetch-document.ts";
import { responseNameOf } from "./fields.ts";
import { clientVariableOf, plannerKeyOf } from "./normalize.ts";
import { createRootPosition } from "./positions.ts";
import { createFieldsOf } from "./representation-plan.ts";
import { sharesComposites } from "./shared-composites.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

export interface CompilerOptions {
  readonly types: SupergraphTypes;
  readonly apiSchema: GraphQLSchema;
  readonly aliasPrefix: string;
}

export type Compile = (client: OperationDefinitionNode, plan: QueryPlan) => CompiledPlan;

export function createCompiler(o: CompilerOptions): Compile {
  return (client, plan) => {
    const fetches: CompiledFetch[] = [];
    const renamed = new Map<FieldNode, string>();
    const fetchKeyOf = (field: FieldNode) => renamed.get(field) ?? responseNameOf(field);
    const steps = plan.node && compileNode(readPlanNode(plan.node), [], createFetchCompiler(o, fetches, renamed));
    const isMerged = sharesComposites(fetches, o.types, fetchKeyOf);
    const type = o.types.schema.getRootType(client.operation);
    if (!type) throw new Error(`The supergraph has no ${client.operation}s`);
    const introspection = findIntrospection(client);
    for (const field of introspection?.selections ?? []) {
      if (field.kind === Kind.FIELD) renamed.set(field, plannerKeyOf(field, o.aliasPrefix));
    }
    const positionOptions = {
      types: o.types,
      findVisibleType: (name: string) => o.apiSchema.getType(name),
      fetches,
      isMerged,
      clientKeyOf: (field: FieldNode) => plannerKeyOf(field, o.aliasPrefix),
      fetchKeyOf,
      introspection: introspection && { slot: fetches.length, set: introspection },
    };
    const root = createRootPosition(positionOptions, type, [client.selectionSet]);
    return { kind: client.operation, steps, fetches, root, isMerged, introspection, explained: plan };
  };
}

function readPlanNode(node: NonNullable<QueryPlan["node"]>): PlanNode {
  if (node.kind === "Subscription") throw new Error("Subscriptions are refused before they are planned");
  return node;
}

type CompileFetch = (node: FetchNode, path: readonly string[]) => CompiledFetch;

function compileNode(node: PlanNode, path: readonly string[], compileFetch: CompileFetch): Step {
  switch (node.kind) {
    case "Fetch":
      return { kind: "fetch", fetch: compileFetch(node, path) };
    case "Flatten": {
      const steps = node.path.filter((step): step is string => typeof step === "string" && step !== "@");
      return compileNode(node.node, [...path, ...steps], compileFetch);
    }
    case "Sequence":
    case "Parallel":
      return {
        kind: node.kind === "Sequence" ? "sequence" : "parallel",
        steps: node.nodes.map((child) => compileNode(child, path, compileFetch)),
      };
    case "Condition":
    case "Defer":
      throw new Error(`Operations are normalized before they are planned: ${node.kind} is not expected`);
  }
}

/** Fetches are numbered in the plan's order; `renamed` gets the fields whose key in the data is not the planner's. */
function createFetchCompiler(
  { types, aliasPrefix }: CompilerOptions,
  fetches: CompiledFetch[],
  renamed: Map<FieldNode, string>,
): CompileFetch {
  const groups = new Map<string, number>();

  function groupOf(node: FetchNode, path: readonly string[]): number {
    const text = JSON.stringify([path, node.requires, node.inputRewrites]);
    const group = groups.get(text) ?? groups.size;
    groups.set(text, group);
    return group;
  }

  return (node, path) => {
    if (node.contextRewrites) throw new Error("Contexts (@fromContext) are not served");
    const document = createFetchDocument(node, types);
    for (const [field, key] of findRenamedFields(document.selected, node.outputRewrites ?? [])) renamed.set(field, key);
    const fetch: CompiledFetch = {
      slot: fetches.length,
      service: node.serviceName,
      isMutation: node.operationKind === OperationTypeNode.MUTATION,
      path,
      requestHead: `{"query":${JSON.stringify(document.text)}`,
      variables: (node.variableUsages ?? []).map((planned) => ({
        planned,
        client: clientVariableOf(planned, aliasPrefix),
      })),
      selected: document.selected,
      representations: node.requires && {
        group: groupOf(node, path),
        fieldsOf: createFieldsOf(node.requires, node.inputRewrites ?? [], types),
      },
      renames: (node.outputRewrites ?? []).flatMap((rewrite) =>
        rewrite.kind === "KeyRenamer" ? { path: rewrite.path, to: rewrite.renameKeyTo } : [],
      ),
      keyChecks: createKeyChecks(document, types),
      acceptsEntity: ({ typename: known }, typename) =>
        types.applies(known, typename) || types.applies(typename, known),
    };
    fetches.push(fetch);
    return fetch;
  };
}

function createKeyChecks({ checkedKeys }: FetchDocument, types: SupergraphTypes): CompiledFetch["keyChecks"] {
  const known = new Map<ObjectLayout, readonly KeyCheck[]>();
  return (layout) => {
    const checks = known.get(layout) ?? createChecksFor(layout, checkedKeys, types);
    known.set(layout, checks);
    return checks;
  };
}

function createChecksFor(
  layout: ObjectLayout,
  checkedKeys: FetchDocument["checkedKeys"],
  types: SupergraphTypes,
): readonly KeyCheck[] {
  const keys = [...checkedKeys].flatMap(([typename, names]) => (types.applies(typename, layout.typename) ? names : []));
  return [...new Set(keys)].flatMap((key) => {
    const access = layout.access(key);
    return access ? { key, access } : [];
  });
}

/** What the client asks the schema about itself; answered without any subgraph. */
function findIntrospection({ selectionSet }: OperationDefinitionNode): SelectionSetNode | undefined {
  const selections = selectionSet.selections.flatMap(
    function find(selection): SelectionSetNode["selections"][number][] {
      if (selection.kind === Kind.INLINE_FRAGMENT) return selection.selectionSet.selections.flatMap(find);
      if (selection.kind !== Kind.FIELD) return [];
      return selection.name.value === "__schema" || selection.name.value === "__type" ? [selection] : [];
    },
  );
  return selections.length > 0 ? { kind: Kind.SELECTION_SET, selections } : undefined;
}
