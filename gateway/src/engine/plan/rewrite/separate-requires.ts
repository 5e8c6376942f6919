// Moves fields with `@requires` that the planner would plan wrongly into virtual subgraphs: additional subgraphs of the same service.
import { type DirectiveNode, type FieldNode, Kind, type SelectionSetNode } from "graphql";
import { argumentOf, isNamed, resolvableKeysOf, stringOf, withArgument } from "./supergraph-directives.ts";
import {
  type EditedMember,
  type EditedType,
  fieldNodeOf,
  isSameOrRelated,
  listSelectedFields,
  namedTypeOf,
  parseFieldSet,
  type SupergraphEdit,
  type SupergraphView,
} from "./supergraph-edit.ts";
import type { SyntheticFields } from "./synthetic-fields.ts";
import { addVirtualSubgraph, type InterfaceObjects, type MovedField } from "./virtual-subgraph.ts";

/** By name, such as `users#4` for the service `users`. */
export type VirtualSubgraphs = ReadonlyMap<string, VirtualSubgraph>;

interface VirtualSubgraph {
  readonly service: string;
  readonly interfaceObjects: InterfaceObjects;
}

interface RequiringField extends MovedField {
  readonly requires: SelectionSetNode;
}

/** Of each field with a `@requires`: the fields with a `@requires` that it requires. */
type Requirements = ReadonlyMap<RequiringField, readonly RequiringField[]>;

/**
 * Moves chains and conflicts. If `a` requires `b`, and `b` has a `@requires` itself, both move: the planner would fetch `a` and `b` of one subgraph
 * together. If `a` requires `width(unit: CM)` and `b` of the same type `width(unit: INCH)`, `b` moves: a representation can have `width` only once.
 * Supergraphs of federation 1 are not changed.
 */
export function separateRequires(edit: SupergraphEdit, syntheticFields: SyntheticFields): VirtualSubgraphs {
  const graphs = edit.types.get("join__Graph");
  const isFederation1 = edit.document.definitions.some(
    (node) => node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === "join__owner",
  );
  const virtualSubgraphs = new Map<string, VirtualSubgraph>();
  if (!graphs || isFederation1) return virtualSubgraphs;
  for (const { graph, fields } of groupMovedFields(edit, syntheticFields)) {
    const virtual = addGraph(edit, graphs, graph);
    const interfaceObjects = addVirtualSubgraph(edit, graph, virtual.graph, fields);
    virtualSubgraphs.set(virtual.name, { service: virtual.service, interfaceObjects });
  }
  return virtualSubgraphs;
}

function addGraph(edit: SupergraphEdit, graphs: EditedType, graph: string) {
  const { members } = graphs;
  const joinGraph = members.get(graph)?.directives.find(isNamed("join__graph"));
  if (!joinGraph) throw new Error(`The supergraph has no subgraph ${graph}`);
  const service = String(argumentOf(joinGraph, "name"));
  const virtualGraph = `${graph}__${members.size}`;
  const name = `${service}#${members.size}`;
  const node = { kind: Kind.ENUM_VALUE_DEFINITION, name: { kind: Kind.NAME, value: virtualGraph } } as const;
  const virtualJoin = withArgument(joinGraph, "name", { kind: Kind.STRING, value: name });
  edit.addMember(graphs, node, [virtualJoin]);
  return { graph: virtualGraph, name, service };
}

interface FieldGroup {
  readonly graph: string;
  readonly fields: RequiringField[];
}

/** Each field is in the first group in which it fits: leaf fields, or one composite field, that neither clash nor require each other. */
function groupMovedFields(supergraph: SupergraphView, syntheticFields: SyntheticFields): readonly FieldGroup[] {
  const requirements = readRequirements(supergraph);
  const groups: FieldGroup[] = [];

  function isCompatible(field: RequiringField, other: RequiringField): boolean {
    if (!isLeaf(supergraph, other)) return false;
    if (fieldsClash(field, other, syntheticFields)) return false;
    if (leadsTo(field, other, requirements) || leadsTo(other, field, requirements)) return false;
    // Two interface objects cannot share a virtual subgraph.
    const areOnInterfaces = isOnInterface(supergraph, other) && isOnInterface(supergraph, field);
    return !areOnInterfaces || other.typeName === field.typeName;
  }

  for (const field of findMovedFields(supergraph, requirements, syntheticFields)) {
    const group = groups.find(({ graph, fields }) => {
      if (graph !== field.graph || !isLeaf(supergraph, field)) return false;
      return fields.every((other) => isCompatible(field, other));
    });
    if (group) group.fields.push(field);
    else groups.push({ graph: field.graph, fields: [field] });
  }
  return groups;
}

/** On an interface object. One object type of a virtual subgraph cannot stand for two of them. */
function isOnInterface({ types }: SupergraphView, { typeName }: RequiringField): boolean {
  return types.get(typeName)?.node.kind === Kind.INTERFACE_TYPE_DEFINITION;
}

function isLeaf({ types }: SupergraphView, { typeName, fieldName }: RequiringField): boolean {
  const field = fieldNodeOf(types.get(typeName)?.members.get(fieldName));
  const kind = field && types.get(namedTypeOf(field.type))?.node.kind;
  // Undefined for a built-in scalar, which the supergraph does not define.
  return kind === undefined || kind === Kind.SCALAR_TYPE_DEFINITION || kind === Kind.ENUM_TYPE_DEFINITION;
}

function leadsTo(from: RequiringField, to: RequiringField, requirements: Requirements): boolean {
  const reached = new Set([from]);
  for (const field of reached) {
    for (const required of requirements.get(field) ?? []) reached.add(required);
  }
  return from !== to && reached.has(to);
}

/** Read once, because `leadsTo` compares the moved fields in pairs. */
function readRequirements(supergraph: SupergraphView): Requirements {
  const requiring = findRequiringFields(supergraph);
  const byName = Map.groupBy(requiring, ({ fieldName }) => fieldName);
  const requiredBy = ({ typeName, requires }: RequiringField) =>
    listSelectedFields(supergraph, typeName, requires).flatMap((selected) => {
      const candidates = byName.get(selected.field.name.value) ?? [];
      return candidates.filter((candidate) => isSameOrRelated(supergraph, candidate.typeName, selected.typeName));
    });
  return new Map(requiring.map((field) => [field, requiredBy(field)]));
}

function findRequiringFields({ types }: SupergraphView): readonly RequiringField[] {
  const requiring: RequiringField[] = [];
  for (const [typeName, { members }] of types) {
    for (const [fieldName, member] of members) requiring.push(...readRequires(typeName, fieldName, member));
  }
  return requiring;
}

function readRequires(typeName: string, fieldName: string, { directives }: EditedMember): readonly RequiringField[] {
  const fieldJoins = directives.filter(isNamed("join__field"));
  return fieldJoins.flatMap((fieldJoin) => {
    const graph = stringOf(fieldJoin, "graph");
    const requires = stringOf(fieldJoin, "requires");
    if (graph === undefined || requires === undefined || isOverridden(fieldJoin)) return [];
    return [{ typeName, fieldName, graph, requires: parseFieldSet(requires) }];
  });
}

/** False with an override label: the request then decides which subgraph resolves the field. */
function isOverridden(joinField: DirectiveNode): boolean {
  return argumentOf(joinField, "usedOverridden") === true && argumentOf(joinField, "overrideLabel") === undefined;
}

function findMovedFields(
  supergraph: SupergraphView,
  requirements: Requirements,
  syntheticFields: SyntheticFields,
): readonly RequiringField[] {
  const chained = new Set<RequiringField>();
  for (const [field, required] of requirements) {
    if (required.length > 0) chained.add(field);
    for (const requiredField of required) chained.add(requiredField);
  }
  const remaining: RequiringField[] = [];
  return [...requirements.keys()].filter((field) => {
    // Without a resolvable key, the planner could not return to the virtual subgraph.
    if (resolvableKeysOf(supergraph.types.get(field.typeName), field.graph).length === 0) return false;
    const moves = chained.has(field) || remaining.some((other) => fieldsClash(field, other, syntheticFields));
    if (!moves) remaining.push(field);
    return moves;
  });
}

/** Whether they require one field of one object with different arguments: then by two synthetic names of one published field. */
function fieldsClash(one: RequiringField, other: RequiringField, syntheticFields: SyntheticFields): boolean {
  return (
    one.graph === other.graph &&
    one.typeName === other.typeName &&
    setsClash(one.requires, other.requires, syntheticFields)
  );
}

/** Ignores type conditions, so more fields may move than necessary, but never fewer. */
function setsClash(one: SelectionSetNode, other: SelectionSetNode, syntheticFields: SyntheticFields): boolean {
  return fieldsOf(one).some((field) =>
    fieldsOf(other).some((otherField) => selectedFieldsClash(field, otherField, syntheticFields)),
  );
}

function selectedFieldsClash(one: FieldNode, other: FieldNode, syntheticFields: SyntheticFields): boolean {
  const publishedNameOf = ({ name }: FieldNode) => syntheticFields.get(name.value)?.field ?? name.value;
  if (one.name.value !== other.name.value) return publishedNameOf(one) === publishedNameOf(other);
  if (!one.selectionSet || !other.selectionSet) return false;
  return setsClash(one.selectionSet, other.selectionSet, syntheticFields);
}

function fieldsOf({ selections }: SelectionSetNode): readonly FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    return selection.kind === Kind.INLINE_FRAGMENT ? fieldsOf(selection.selectionSet) : [];
  });
}
