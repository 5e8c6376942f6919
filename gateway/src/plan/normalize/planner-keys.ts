// Stage 3 of 5: how to answer? Under which key the planner, and so the data of subgraphs, knows each of a client's fields.
import { type FieldNode, Kind, type OperationDefinitionNode, print, type SelectionSetNode, visit } from "graphql";
import { collectFields, selectionSetsOf } from "./collect-fields.ts";

/** The planner key of a client's field: where its value stands in subgraph data. */
export type PlannerKeys = (field: FieldNode) => string;

/**
 * A field's name, or its alias with the prefix. Where one response name stands for different fields, or for different arguments, at one place,
 * each has a key of its own: clients may say so of types that exclude each other, but a subgraph that knows these types as one (an interface
 * object) is asked all of it of that one. A digit after the prefix begins no alias.
 */
export function createPlannerKeys({ selectionSet }: OperationDefinitionNode, aliasPrefix: string): PlannerKeys {
  const plainKeyOf = (field: FieldNode) => plainPlannerKeyOf(field, aliasPrefix);
  const questionsByKey = findAmbiguousKeys(selectionSet, plainKeyOf);
  if (questionsByKey.size === 0) return plainKeyOf;
  return (field) => {
    const key = plainKeyOf(field);
    const number = questionsByKey.get(key)?.indexOf(questionOf(field)) ?? 0;
    return number > 0 ? `${aliasPrefix}${number}_${key}` : key;
  };
}

function plainPlannerKeyOf({ name, alias }: FieldNode, aliasPrefix: string): string {
  // All aliases of __typename are one value. An alias that is the field's own name is none.
  if (alias === undefined || alias.value === name.value || name.value === "__typename") return name.value;
  return aliasPrefix + alias.value;
}

/** Keys that stand for several questions at some place, with these questions in the order in which they are met. */
function findAmbiguousKeys(root: SelectionSetNode, keyOf: PlannerKeys): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();

  function search(sets: readonly SelectionSetNode[]): void {
    for (const [key, fields] of collectFields(sets, () => true, keyOf)) {
      const byQuestion = fields.length === 1 ? new Map([["", fields]]) : Map.groupBy(fields, questionOf);
      if (byQuestion.size > 1) found.set(key, [...new Set([...(found.get(key) ?? []), ...byQuestion.keys()])]);
      for (const same of byQuestion.values()) {
        const below = selectionSetsOf(same);
        if (below.length > 0) search(below);
      }
    }
  }

  search([root]);
  return found;
}

/** The field and its arguments as they count: the order of names does not (GraphQL spec, "Field Selection Merging"). */
function questionOf({ name, arguments: given = [] }: FieldNode): string {
  const inOrder = visit(
    { kind: Kind.FIELD, name, arguments: given },
    {
      Field: { leave: (field) => ({ ...field, arguments: sortByName(field.arguments ?? []) }) },
      ObjectValue: { leave: (value) => ({ ...value, fields: sortByName(value.fields) }) },
    },
  );
  return print(inOrder);
}

function sortByName<N extends { readonly name: { readonly value: string } }>(nodes: readonly N[]): readonly N[] {
  return nodes.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}
