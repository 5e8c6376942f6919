// Stage 3 of 5: how to answer? The text of one fetch: what it selects, and what it must select besides so that its answer can be checked.
import type { FetchDataRewrite, FetchNode, QueryPlanSelectionNode } from "@apollo/query-planner";
import {
  type FieldNode,
  getNamedType,
  type InlineFragmentNode,
  isEnumType,
  isInterfaceType,
  isObjectType,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { responseNameOf } from "./fields.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** One fetch's operation. */
export interface FetchDocument {
  /** As planned, without the keys that the gateway adds. */
  readonly operation: OperationDefinitionNode;
  /** What is selected at the root, or of an entity. */
  readonly selected: SelectionSetNode;
  readonly checkedKeys: readonly CheckedKey[];
}

/** A key field that an entity must return with the value by which it was requested, so that another entity is detected. */
export interface CheckedKey {
  /** The type condition of the fragments that select it. */
  readonly typeCondition: string;
  readonly name: string;
  readonly responseName: string;
  /** The plan does not select it: the gateway adds it to the fetch. */
  readonly isAdded: boolean;
}

interface FetchDocumentOptions {
  readonly types: SupergraphTypes;
  readonly aliasPrefix: string;
}

/** Comparable as text: only the subgraph knows which values of a custom scalar are equal. */
const comparableTypes: ReadonlySet<string> = new Set(["ID", "String", "Int"]);

export function createFetchDocument(node: FetchNode, o: FetchDocumentOptions): FetchDocument {
  const operation = readOperation(node.operation);
  const entities = node.requires && findEntities(operation);
  if (!node.requires || !entities) return { operation, selected: operation.selectionSet, checkedKeys: [] };
  const selected = entities.selectionSet;
  const keyNames = findKeyNames(node.requires, node.serviceName, o.types);
  return { operation, selected, checkedKeys: createCheckedKeys(keyNames, selected, o.aliasPrefix) };
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

/** The fields at the top of a representation that are keys in this subgraph, by the type condition of their fragment. */
function findKeyNames(
  requires: readonly QueryPlanSelectionNode[],
  service: string,
  types: SupergraphTypes,
): ReadonlyMap<string, ReadonlySet<string>> {
  const namesByType = new Map<string, Set<string>>();
  for (const fragment of requires) {
    if (fragment.kind !== "InlineFragment" || fragment.typeCondition === undefined) continue;
    const { typeCondition, selections } = fragment;
    const keys = types.keyFields(service, typeCondition);
    const names = namesByType.get(typeCondition) ?? new Set();
    namesByType.set(typeCondition, names);
    for (const selection of selections) {
      if (selection.kind !== "Field" || selection.selections || !keys.has(selection.name)) continue;
      if (isComparable(types, typeCondition, selection.name)) names.add(selection.name);
    }
  }
  return namesByType;
}

/**
 * An added key has an alias of its own for each type condition, so that it merges with no other selection of the fetch, whatever their types
 * (GraphQL spec, 5.3.2 "Field Selection Merging"). The prefix with the digit 0 begins no client's alias, see planner-keys.ts.
 */
function createCheckedKeys(
  namesByType: ReadonlyMap<string, ReadonlySet<string>>,
  selected: SelectionSetNode,
  aliasPrefix: string,
): readonly CheckedKey[] {
  return [...namesByType].flatMap(([typeCondition, names], i) =>
    [...names].map((name) => {
      const isAdded = !selectsPlainly(selected, typeCondition, name);
      return { typeCondition, name, responseName: isAdded ? `${aliasPrefix}0_${i}_${name}` : name, isAdded };
    }),
  );
}

/** Whether a fragment of this type selects the field without alias, arguments and directives. */
function selectsPlainly({ selections }: SelectionSetNode, typeCondition: string, name: string): boolean {
  return selections.some(
    (fragment) =>
      isFragmentOf(fragment, typeCondition) &&
      fragment.selectionSet.selections.some(
        (field) => field.kind === Kind.FIELD && field.name.value === name && !field.alias && !field.directives?.length,
      ),
  );
}

function isFragmentOf(selection: SelectionNode, typeCondition: string): selection is InlineFragmentNode {
  return selection.kind === Kind.INLINE_FRAGMENT && selection.typeCondition?.name.value === typeCondition;
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

/** @param keys are selected by the fragments of their types, besides what is planned. */
export function addKeys(operation: OperationDefinitionNode, keys: readonly CheckedKey[]): OperationDefinitionNode {
  const entities = findEntities(operation);
  if (!entities || keys.length === 0) return operation;
  const selections = entities.selectionSet.selections.map((selection) => {
    const fields = keys.filter(({ typeCondition }) => isFragmentOf(selection, typeCondition)).map(toField);
    return selection.kind === Kind.INLINE_FRAGMENT && fields.length > 0 ? append(selection, fields) : selection;
  });
  const withKeys: FieldNode = { ...entities, selectionSet: { ...entities.selectionSet, selections } };
  return { ...operation, selectionSet: { ...operation.selectionSet, selections: [withKeys] } };
}

function append(fragment: InlineFragmentNode, fields: readonly FieldNode[]): InlineFragmentNode {
  const { selectionSet } = fragment;
  return { ...fragment, selectionSet: { ...selectionSet, selections: [...selectionSet.selections, ...fields] } };
}

function toField({ name, responseName }: CheckedKey): FieldNode {
  const toName = (value: string): NameNode => ({ kind: Kind.NAME, value });
  return { kind: Kind.FIELD, alias: toName(responseName), name: toName(name) };
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
