import type { FetchDataRewrite, FetchNode } from "@apollo/query-planner";
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode } from "graphql";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { parseOperation } from "../rewrite/supergraph-edit.ts";
import type { CompiledFetch } from "./compiled-plan.ts";
import { type CheckedKey, createCheckedKeys, type KeyCheckOptions } from "./key-checks.ts";

export interface FetchDocument {
  /** As planned, without added key fields. */
  readonly operation: OperationDefinitionNode;
  readonly selected: SelectionSetNode;
  readonly checkedKeys: readonly CheckedKey[];
}

export interface BatchedFetch {
  readonly fetch: CompiledFetch;
  readonly document: FetchDocument;
  readonly variableNames: readonly string[];
}

export function createFetchDocument(node: FetchNode, o: KeyCheckOptions): FetchDocument {
  const operation = parseOperation(node.operation);
  const entities = node.requires && findEntities(operation);
  if (!entities) return { operation, selected: operation.selectionSet, checkedKeys: [] };
  const selected = entities.selectionSet;
  return { operation, selected, checkedKeys: createCheckedKeys(node, selected, o) };
}

type EntitiesField = FieldNode & { readonly selectionSet: SelectionSetNode };

export function findEntities({ selectionSet }: OperationDefinitionNode): EntitiesField | undefined {
  return selectionSet.selections.find(
    (selection): selection is EntitiesField =>
      selection.kind === Kind.FIELD && selection.name.value === "_entities" && selection.selectionSet !== undefined,
  );
}

/**
 * The fields that the plan renames, with their planner keys. If two object types at one place have fields `code` of different types, the planner
 * requests one of them as `code__alias_0`, and renames it to `code` in the data.
 */
export function findRenamedFields(
  selected: SelectionSetNode,
  rewrites: readonly FetchDataRewrite[],
): ReadonlyMap<FieldNode, string> {
  const renamed = new Map<FieldNode, string>();
  for (const rewrite of rewrites) {
    if (rewrite.kind !== "KeyRenamer") continue;
    for (const field of findFields(selected, rewrite.path)) renamed.set(field, rewrite.renameKeyTo);
  }
  return renamed;
}

function findFields({ selections }: SelectionSetNode, path: readonly string[]): readonly FieldNode[] {
  return selections.flatMap((selection) => findFieldsOf(selection, path));
}

function findFieldsOf(selection: SelectionNode, path: readonly string[]): readonly FieldNode[] {
  const [step, ...rest] = path;
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    // A path contains a fragment only if it narrows the type. The fields of any other fragment are searched with the same path.
    const isStep = step === `... on ${selection.typeCondition?.name.value}`;
    return findFields(selection.selectionSet, isStep ? rest : path);
  }
  if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
  if (responseNameOf(selection) !== step) return [];
  if (rest.length === 0) return [selection];
  return selection.selectionSet ? findFields(selection.selectionSet, rest) : [];
}
