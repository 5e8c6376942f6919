// Planner keys: the names of a client's fields in the operation for the planner, and in the data of subgraphs.
import { type FieldNode, Kind, type OperationDefinitionNode, print, type SelectionSetNode, visit } from "graphql";
import { collectFields, selectionSetsOf } from "./collect-fields.ts";

export type PlannerKeys = (field: FieldNode) => string;

/**
 * The field's name, or its alias with the prefix: `a_stock` for `stock: inStock`.
 * If different fields, or different arguments, have one response name at one position, each gets its own key in the whole operation: `a_stock`,
 * `a_1_a_stock`. On types that a subgraph knows as one interface object, they would not merge. No alias begins with a digit, so these keys are
 * unique.
 */
export function createPlannerKeys({ selectionSet }: OperationDefinitionNode, aliasPrefix: string): PlannerKeys {
  const plainKeyOf = (field: FieldNode) => plainPlannerKeyOf(field, aliasPrefix);
  const callsByKey = findAmbiguousKeys(selectionSet, plainKeyOf);
  if (callsByKey.size === 0) return plainKeyOf;
  return (field) => {
    const key = plainKeyOf(field);
    const callIndex = callsByKey.get(key)?.indexOf(fieldCallOf(field)) ?? 0;
    return callIndex > 0 ? `${aliasPrefix}${callIndex}_${key}` : key;
  };
}

function plainPlannerKeyOf({ name, alias }: FieldNode, aliasPrefix: string): string {
  // `__typename` needs no alias, because its value is the same under every alias. An alias that equals the field's name is no alias.
  if (alias === undefined || alias.value === name.value || name.value === "__typename") return name.value;
  return aliasPrefix + alias.value;
}

/** By key: its field calls (name and arguments), if one position has several. */
function findAmbiguousKeys(root: SelectionSetNode, keyOf: PlannerKeys): ReadonlyMap<string, readonly string[]> {
  const ambiguous = new Map<string, string[]>();

  function search(sets: readonly SelectionSetNode[]): void {
    for (const [key, fields] of collectFields(sets, () => true, keyOf)) {
      const fieldsByCall = groupByCall(fields);
      if (fieldsByCall.size > 1) {
        const callsElsewhere = ambiguous.get(key) ?? [];
        ambiguous.set(key, [...new Set([...callsElsewhere, ...fieldsByCall.keys()])]);
      }
      for (const fieldsWithOneCall of fieldsByCall.values()) {
        const below = selectionSetsOf(fieldsWithOneCall);
        if (below.length > 0) search(below);
      }
    }
  }

  search([root]);
  return ambiguous;
}

function groupByCall(fields: readonly FieldNode[]): ReadonlyMap<string, readonly FieldNode[]> {
  return fields.length === 1 ? new Map([["", fields]]) : Map.groupBy(fields, fieldCallOf);
}

/** The field's name and arguments, such as `price(currency: EUR)`, sorted: order is irrelevant (GraphQL spec, "Field Selection Merging"). */
function fieldCallOf({ name, arguments: args = [] }: FieldNode): string {
  const sorted = visit(
    { kind: Kind.FIELD, name, arguments: args },
    {
      Field: { leave: (field) => ({ ...field, arguments: sortByName(field.arguments ?? []) }) },
      ObjectValue: { leave: (value) => ({ ...value, fields: sortByName(value.fields) }) },
    },
  );
  return print(sorted);
}

export function sortByName<N extends { readonly name: { readonly value: string } }>(nodes: readonly N[]): readonly N[] {
  return nodes.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}
