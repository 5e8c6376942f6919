// Stage 3 of 5: how to answer? What a client asks the schema about itself, `__schema` and `__type`: at the root, and wherever else a field
// gives the query type. No subgraph is needed for it.
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from "graphql";

export interface Questions {
  /** All of them, as the root fields of a query, each under a name of its own. */
  readonly set: SelectionSetNode;
  /** The name of the question that stands at this path of planner keys. */
  findName(path: readonly string[]): string | undefined;
}

/** Undefined when nothing is asked. */
export function findQuestions(
  { selectionSet }: OperationDefinitionNode,
  keyOf: (field: FieldNode) => string,
): Questions | undefined {
  const fieldsByPlace = new Map<string, FieldNode[]>();

  function search({ selections }: SelectionSetNode, path: readonly string[]): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) search(selection.selectionSet, path);
      if (selection.kind !== Kind.FIELD || !selection.selectionSet) continue;
      const place = [...path, keyOf(selection)];
      if (isQuestion(selection)) addTo(fieldsByPlace, toPlace(place), selection);
      else search(selection.selectionSet, place);
    }
  }

  search(selectionSet, []);
  if (fieldsByPlace.size === 0) return undefined;
  const names = new Map([...fieldsByPlace.keys()].map((place, i) => [place, `q${i}`]));
  const selections = [...fieldsByPlace].flatMap(([place, fields]) =>
    fields.map((field): FieldNode => ({ ...field, alias: { kind: Kind.NAME, value: names.get(place) ?? "" } })),
  );
  return { set: { kind: Kind.SELECTION_SET, selections }, findName: (path) => names.get(toPlace(path)) };
}

function isQuestion({ name }: FieldNode): boolean {
  return name.value === "__schema" || name.value === "__type";
}

function toPlace(path: readonly string[]): string {
  return path.join("/");
}

function addTo(fieldsByPlace: Map<string, FieldNode[]>, place: string, field: FieldNode): void {
  const fields = fieldsByPlace.get(place);
  if (fields) fields.push(field);
  else fieldsByPlace.set(place, [field]);
}
