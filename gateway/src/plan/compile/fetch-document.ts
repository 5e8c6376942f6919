// Stage 3 of 5: plan. The document of one fetch, and which keys of its entities are checked.
import type { FetchDataRewrite, FetchNode } from "@apollo/query-planner";
import { type FieldNode, Kind, type OperationDefinitionNode, parse, type SelectionSetNode } from "graphql";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { type CheckedKey, createCheckedKeys, type KeyCheckOptions } from "./key-checks.ts";

/** One fetch's operation. */
export interface FetchDocument {
  /** As planned, without the keys that the gateway adds. */
  readonly operation: OperationDefinitionNode;
  /** What is selected at the root, or of an entity. */
  readonly selected: SelectionSetNode;
  readonly checkedKeys: readonly CheckedKey[];
}

export function createFetchDocument(node: FetchNode, o: KeyCheckOptions): FetchDocument {
  const operation = readOperation(node.operation);
  const entities = node.requires && findEntities(operation);
  if (!entities) return { operation, selected: operation.selectionSet, checkedKeys: [] };
  const selected = entities.selectionSet;
  return { operation, selected, checkedKeys: createCheckedKeys(node, selected, o) };
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
