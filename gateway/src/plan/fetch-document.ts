// Stage 3 of 5: how to answer? The text of one fetch: what it selects, and what it must select besides so that its answer can be checked.
import type { FetchDataRewrite, FetchNode, QueryPlanSelectionNode } from "@apollo/query-planner";
import {
  type FieldNode,
  getNamedType,
  isEnumType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from "graphql";
import { responseNameOf } from "./fields.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** One fetch's operation. */
export interface FetchDocument {
  readonly operation: OperationDefinitionNode;
  /** What is selected at the root, or of an entity, without the keys that are only checked. */
  readonly selected: SelectionSetNode;
  /** By type: key fields that its entities bring along, so that another entity's row is noticed. */
  readonly checkedKeys: ReadonlyMap<string, readonly string[]>;
}

/** Comparable as text: what a subgraph makes of a custom scalar is its own business. */
const comparableTypes: ReadonlySet<string> = new Set(["ID", "String", "Int"]);

export function createFetchDocument(node: FetchNode, types: SupergraphTypes): FetchDocument {
  const operation = readOperation(node.operation);
  const entities = node.requires && findEntities(operation);
  if (!node.requires || !entities) return { operation, selected: operation.selectionSet, checkedKeys: new Map() };
  const checkedKeys = findCheckedKeys(node.requires, node.serviceName, types);
  const withChecks = { ...entities, selectionSet: withKeys(entities.selectionSet, checkedKeys) };
  return {
    operation: { ...operation, selectionSet: { ...operation.selectionSet, selections: [withChecks] } },
    selected: entities.selectionSet,
    checkedKeys,
  };
}

function readOperation(text: string): OperationDefinitionNode {
  const [operation] = parse(text, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("A fetch is one operation");
  return operation;
}

type EntitiesField = FieldNode & { readonly selectionSet: SelectionSetNode };

export function findEntities({ selectionSet }: OperationDefinitionNode): EntitiesField | undefined {
  return selectionSet.selections.find(
    (selection): selection is EntitiesField =>
      selection.kind === Kind.FIELD && selection.name.value === "_entities" && selection.selectionSet !== undefined,
  );
}

/** The fields at the top of a representation that are keys in this subgraph, by the type of the fragment that they stand in. */
function findCheckedKeys(
  requires: readonly QueryPlanSelectionNode[],
  service: string,
  types: SupergraphTypes,
): ReadonlyMap<string, readonly string[]> {
  const checked = new Map<string, readonly string[]>();
  for (const fragment of requires) {
    if (fragment.kind !== "InlineFragment" || fragment.typeCondition === undefined) continue;
    const { typeCondition } = fragment;
    const keys = types.keyFields(service, typeCondition);
    const names = fragment.selections.flatMap((selection) =>
      selection.kind === "Field" &&
      !selection.selections &&
      keys.has(selection.name) &&
      isComparable(types, typeCondition, selection.name)
        ? selection.name
        : [],
    );
    if (names.length > 0) checked.set(typeCondition, [...new Set([...(checked.get(typeCondition) ?? []), ...names])]);
  }
  return checked;
}

function isComparable({ schema }: SupergraphTypes, typename: string, fieldName: string): boolean {
  const type = schema.getType(typename);
  const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[fieldName] : undefined;
  if (!field || field.args.length > 0) return false;
  const named = getNamedType(field.type);
  return (
    field.type.toString().replace("!", "") === named.name && (comparableTypes.has(named.name) || isEnumType(named))
  );
}

/** Adds to the fragment of each type the keys that it does not select yet. */
function withKeys(set: SelectionSetNode, checkedKeys: ReadonlyMap<string, readonly string[]>): SelectionSetNode {
  const selections = set.selections.map((selection) => {
    if (selection.kind !== Kind.INLINE_FRAGMENT) return selection;
    const keys = checkedKeys.get(selection.typeCondition?.name.value ?? "") ?? [];
    const names = new Set(
      selection.selectionSet.selections.flatMap((field) => (field.kind === Kind.FIELD ? responseNameOf(field) : [])),
    );
    const missing = keys.filter((key) => !names.has(key)).map(toField);
    if (missing.length === 0) return selection;
    const { selectionSet } = selection;
    return { ...selection, selectionSet: { ...selectionSet, selections: [...selectionSet.selections, ...missing] } };
  });
  return { ...set, selections };
}

function toField(name: string): FieldNode {
  return { kind: Kind.FIELD, name: { kind: Kind.NAME, value: name } };
}

/** The planner key of each field whose response name in the fetch's text is another: two fields of one name that do not merge. */
export function findRenamedFields(
  selected: SelectionSetNode,
  rewrites: readonly FetchDataRewrite[],
): ReadonlyMap<FieldNode, string> {
  const renamed = new Map<FieldNode, string>();
  for (const rewrite of rewrites) {
    if (rewrite.kind !== "KeyRenamer") continue;
    for (const field of findAt([selected], rewrite.path)) renamed.set(field, rewrite.renameKeyTo);
  }
  return renamed;
}

/** Response names, and `... on Type`, lead from selection sets to fields. */
function findAt(sets: readonly SelectionSetNode[], path: readonly string[]): readonly FieldNode[] {
  const [step, ...rest] = path;
  const found = sets.flatMap(({ selections }) =>
    selections.flatMap((selection): readonly FieldNode[] => {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition?.name.value;
        const isStep = step === `... on ${condition}`;
        // The planner leaves out a fragment that says nothing new.
        return findAt([selection.selectionSet], isStep ? rest : path);
      }
      if (selection.kind !== Kind.FIELD || responseNameOf(selection) !== step) return [];
      if (rest.length === 0) return [selection];
      return selection.selectionSet ? findAt([selection.selectionSet], rest) : [];
    }),
  );
  return found;
}
