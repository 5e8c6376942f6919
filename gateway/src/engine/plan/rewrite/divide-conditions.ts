// Divides fragments in objects of an interface that the subgraph has as an interface object. Of `{ best { ... on Printed { size } } }`, where `best` is an
// interface object, the planner finds no type to which the fragment applies, and throws (query-graphs 2.14.4, `advanceWithOperationElement`): it only
// knows fragments on the interface itself, and on the object types behind it.
import {
  baseType,
  type CompositeType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  possibleRuntimeTypes,
  type Schema,
} from "@apollo/federation-internals";
import {
  type FieldNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { typenameField } from "../normalize/normalize.ts";
import { withSelections } from "../normalize/resolve-conditions.ts";
import { graphsOf, isInterfaceObject, isNamed, stringOf } from "./supergraph-directives.ts";
import { fieldNodeOf, namedTypeOf, type SupergraphView } from "./supergraph-edit.ts";

export type DivideConditions = (operation: OperationDefinitionNode) => OperationDefinitionNode;

/** A selection set is in objects of `type`. */
interface Place {
  readonly type: CompositeType;
  readonly mayBeInterfaceObject: boolean;
}

/** @param schema by which the planner reads operations: it has no inaccessible types. */
export function createConditionDivider(schema: Schema, supergraph: SupergraphView): DivideConditions {
  const fields = listInterfaceObjectFields(supergraph);
  if (fields.size === 0) return (operation) => operation;

  function divideIn({ selections }: SelectionSetNode, place: Place): readonly SelectionNode[] {
    return selections.flatMap((selection): readonly SelectionNode[] => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return divideFragment(selection, place);
      return [selection.kind === Kind.FIELD ? divideInField(selection, place) : selection];
    });
  }

  function divideInField(field: FieldNode, { type: parent }: Place): FieldNode {
    const name = field.name.value;
    const definition = "field" in parent ? parent.field(name) : undefined;
    const type = definition?.type && baseType(definition.type);
    if (!field.selectionSet || !type || !isCompositeType(type)) return field;
    const mayBeInterfaceObject = fields.has(toKey(name, type.name));
    const selections = divideIn(field.selectionSet, { type, mayBeInterfaceObject });
    return withSelections(field, selections.length === 0 ? [typenameField] : selections);
  }

  function divideFragment(fragment: InlineFragmentNode, place: Place): readonly InlineFragmentNode[] {
    const { selectionSet } = fragment;
    const condition = fragment.typeCondition && schema.type(fragment.typeCondition.name.value);
    if (!condition || !isCompositeType(condition)) return withoutEmpty(fragment, divideIn(selectionSet, place));
    return listConditions(condition, place).flatMap((type) => {
      const typeCondition = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type.name } } as const;
      return withoutEmpty({ ...fragment, typeCondition }, divideIn(selectionSet, { ...place, type }));
    });
  }

  return (operation) => {
    const type = schema.schemaDefinition.rootType(operation.operation);
    const selectIn = (root: CompositeType) =>
      divideIn(operation.selectionSet, { type: root, mayBeInterfaceObject: false });
    return type ? withSelections(operation, selectIn(type)) : operation;
  };
}

/** Fields that a subgraph declares with an interface object. Of objects too: the supergraph names the subgraph at the interface only. */
function listInterfaceObjectFields({ types }: SupergraphView): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const parent of types.values()) {
    for (const [name, member] of parent.members) {
      const node = fieldNodeOf(member);
      const typeName = node && namedTypeOf(node.type);
      const joins = member.directives.filter(isNamed("join__field"));
      const graphs = joins.length > 0 ? joins.flatMap((join) => stringOf(join, "graph") ?? []) : graphsOf(parent);
      if (typeName !== undefined && graphs.some((graph) => isInterfaceObject(types.get(typeName), graph)))
        fields.add(toKey(name, typeName));
    }
  }
  return fields;
}

function toKey(fieldName: string, typeName: string): string {
  return `${fieldName} ${typeName}`;
}

/** Fragments on them select together what a fragment on `condition` selects. None within a fragment on another object type. */
function listConditions(condition: CompositeType, { type, mayBeInterfaceObject }: Place): readonly CompositeType[] {
  if (isObjectType(type)) return possibleRuntimeTypes(condition).includes(type) ? [condition] : [];
  if (!mayBeInterfaceObject || !isAbstractType(condition) || condition === type) return [condition];
  if (isInterfaceType(type) && type.implementsInterface(condition.name)) return [type];
  const wanted = possibleRuntimeTypes(condition);
  return possibleRuntimeTypes(type).filter((possible) => wanted.includes(possible));
}

function withoutEmpty(
  fragment: InlineFragmentNode,
  selections: readonly SelectionNode[],
): readonly InlineFragmentNode[] {
  return selections.length === 0 ? [] : [withSelections(fragment, selections)];
}
