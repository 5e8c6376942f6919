// Planner keys: the names that a client's fields have in the operation for the planner, and so in the data of subgraphs (unless the plan renames
// the field: `renames` of a compiled fetch). normalize.ts writes the operation with them, and compile.ts finds the client's fields by them.
import { type FieldNode, Kind, type OperationDefinitionNode, print, type SelectionSetNode, visit } from "graphql";
import { collectFields, selectionSetsOf } from "./collect-fields.ts";

/** Returns the planner key of a client's field. */
export type PlannerKeys = (field: FieldNode) => string;

/**
 * A planner key is the field's name, or its alias with the prefix: `a_stock` for `stock: inStock`.
 *
 * If selections of different fields, or with different arguments, have one response name at one position, each gets its own key in the whole
 * operation: `a_stock`, `a_1_a_stock` and so on. Clients may select them in fragments on different types, but a subgraph with an interface object has
 * only one type instead, and the fields would not merge. No alias begins with a digit, so these keys are unique.
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

/** The keys that have several field calls (field name and arguments) at one position. The value of a key is its calls, in the order of selection. */
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
  // A single field is not ambiguous, so its call is not needed.
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

function sortByName<N extends { readonly name: { readonly value: string } }>(nodes: readonly N[]): readonly N[] {
  return nodes.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}
