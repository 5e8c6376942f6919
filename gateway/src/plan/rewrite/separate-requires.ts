// Moves fields with `@requires` that the planner would plan wrongly into virtual subgraphs: additional subgraphs of the same service, which only the
// planner's supergraph has. Called by planner-supergraph.ts.
import { type DirectiveNode, type FieldNode, Kind, type SelectionSetNode } from "graphql";
import { argumentOf, isNamed, resolvableKeysOf, stringOf, withArgument } from "./supergraph-directives.ts";
import {
  fieldNodeOf,
  isSameOrRelated,
  type MemberDraft,
  namedTypeOf,
  parseFieldSet,
  type SupergraphDraft,
  type TypeDraft,
} from "./supergraph-draft.ts";
import type { SyntheticFields } from "./synthetic-fields.ts";
import { addVirtualSubgraph, type InterfaceObjects, type MovedField } from "./virtual-subgraph.ts";

/** By the name of the virtual subgraph, such as `users#4` for the service `users`. */
export type VirtualSubgraphs = ReadonlyMap<string, VirtualSubgraph>;

interface VirtualSubgraph {
  /** The name of the real subgraph. */
  readonly service: string;
  readonly interfaceObjects: InterfaceObjects;
}

/** A field with `@requires` in one subgraph. */
interface RequiringField extends MovedField {
  readonly requires: SelectionSetNode;
}

/**
 * Moves these fields:
 * - chains: if `a` requires `b`, and `b` has a `@requires` itself, both move. The planner would fetch `a` and `b` of one subgraph together, before
 *   the fields that `b` requires are known;
 * - conflicts: if `a` requires `width(unit: CM)` and `b` of the same type requires `width(unit: INCH)`, `b` moves, because a representation can have
 *   `width` only once.
 *
 * Supergraphs of federation 1 are not changed.
 */
export function separateRequires(draft: SupergraphDraft, syntheticFields: SyntheticFields): VirtualSubgraphs {
  const graphs = draft.types.get("join__Graph");
  const isFederation1 = draft.document.definitions.some(
    (node) => node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === "join__owner",
  );
  const virtualSubgraphs = new Map<string, VirtualSubgraph>();
  if (!graphs || isFederation1) return virtualSubgraphs;
  for (const { graph, fields } of groupMovedFields(draft, syntheticFields)) {
    const virtual = addGraph(graphs, graph);
    const interfaceObjects = addVirtualSubgraph(draft, graph, virtual.graph, fields);
    virtualSubgraphs.set(virtual.name, { service: virtual.service, interfaceObjects });
  }
  return virtualSubgraphs;
}

/** Adds a value to `join__Graph` for a virtual subgraph of this subgraph. */
function addGraph({ members }: TypeDraft, graph: string) {
  const joinGraph = members.get(graph)?.directives.find(isNamed("join__graph"));
  if (!joinGraph) throw new Error(`The supergraph has no subgraph ${graph}`);
  const service = String(argumentOf(joinGraph, "name"));
  const virtualGraph = `${graph}__${members.size}`;
  const name = `${service}#${members.size}`;
  const node = { kind: Kind.ENUM_VALUE_DEFINITION, name: { kind: Kind.NAME, value: virtualGraph } } as const;
  const virtualJoin = withArgument(joinGraph, "name", { kind: Kind.STRING, value: name });
  members.set(virtualGraph, { node, directives: [virtualJoin] });
  return { graph: virtualGraph, name, service };
}

/** The fields that move from one subgraph into the same virtual subgraph. */
interface FieldGroup {
  readonly graph: string;
  readonly fields: RequiringField[];
}

/**
 * Puts each field into the first group in which it fits, so that there are few groups. A group has leaf fields only, or one composite field. Two
 * fields are in different groups if they clash (see `fieldsClash`), or if one requires the other.
 */
function groupMovedFields(draft: SupergraphDraft, syntheticFields: SyntheticFields): readonly FieldGroup[] {
  const requiring = findRequiringFields(draft);
  const groups: FieldGroup[] = [];

  function isCompatible(field: RequiringField, other: RequiringField): boolean {
    if (!isLeaf(draft, other)) return false;
    if (fieldsClash(field, other, syntheticFields)) return false;
    if (leadsTo(draft, field, other, requiring) || leadsTo(draft, other, field, requiring)) return false;
    // Two interface objects cannot share a virtual subgraph.
    const areOnInterfaces = isOnInterface(draft, other) && isOnInterface(draft, field);
    return !areOnInterfaces || other.typeName === field.typeName;
  }

  for (const field of findMovedFields(draft, requiring, syntheticFields)) {
    const group = groups.find(({ graph, fields }) => {
      if (graph !== field.graph || !isLeaf(draft, field)) return false;
      return fields.every((other) => isCompatible(field, other));
    });
    if (group) group.fields.push(field);
    else groups.push({ graph: field.graph, fields: [field] });
  }
  return groups;
}

/**
 * Whether the field is on an interface object, which is an interface in the supergraph. A virtual subgraph has the object types of the interface
 * instead, and one object type cannot stand for two interface objects.
 */
function isOnInterface({ types }: SupergraphDraft, { typeName }: RequiringField): boolean {
  return types.get(typeName)?.node.kind === Kind.INTERFACE_TYPE_DEFINITION;
}

function isLeaf({ types }: SupergraphDraft, { typeName, fieldName }: RequiringField): boolean {
  const field = fieldNodeOf(types.get(typeName)?.members.get(fieldName));
  const kind = field && types.get(namedTypeOf(field.type))?.node.kind;
  // Undefined for a built-in scalar, which the supergraph does not define.
  return kind === undefined || kind === Kind.SCALAR_TYPE_DEFINITION || kind === Kind.ENUM_TYPE_DEFINITION;
}

/** Whether `from` requires `to`, directly or through other fields. */
function leadsTo(
  draft: SupergraphDraft,
  from: RequiringField,
  to: RequiringField,
  requiring: readonly RequiringField[],
): boolean {
  const reached = new Set([from]);
  // The outer loop also visits the fields that are added to the set.
  for (const field of reached) {
    for (const required of requiredBy(draft, field, requiring)) reached.add(required);
  }
  return from !== to && reached.has(to);
}

function findRequiringFields({ types }: SupergraphDraft): readonly RequiringField[] {
  const requiring: RequiringField[] = [];
  for (const [typeName, { members }] of types) {
    for (const [fieldName, member] of members) requiring.push(...readRequires(typeName, fieldName, member));
  }
  return requiring;
}

/** One entry for each subgraph in which the field has a `@requires`. */
function readRequires(typeName: string, fieldName: string, { directives }: MemberDraft): readonly RequiringField[] {
  const fieldJoins = directives.filter(isNamed("join__field"));
  return fieldJoins.flatMap((fieldJoin) => {
    const graph = stringOf(fieldJoin, "graph");
    const requires = stringOf(fieldJoin, "requires");
    if (graph === undefined || requires === undefined || isOverridden(fieldJoin)) return [];
    return [{ typeName, fieldName, graph, requires: parseFieldSet(requires) }];
  });
}

/** Whether another subgraph always resolves the field instead. False with an override label: the request then decides which subgraph does. */
function isOverridden(joinField: DirectiveNode): boolean {
  return argumentOf(joinField, "usedOverridden") === true && argumentOf(joinField, "overrideLabel") === undefined;
}

/** The fields of chains, and the second of two clashing fields. Only fields whose type has a resolvable key in the subgraph. */
function findMovedFields(
  draft: SupergraphDraft,
  requiring: readonly RequiringField[],
  syntheticFields: SyntheticFields,
): readonly RequiringField[] {
  const chained = new Set<RequiringField>();
  for (const field of requiring) {
    const required = requiredBy(draft, field, requiring);
    if (required.length > 0) chained.add(field);
    for (const requiredField of required) chained.add(requiredField);
  }
  const remaining: RequiringField[] = [];
  return requiring.filter((field) => {
    // Without a resolvable key, the planner could not return to the virtual subgraph.
    if (resolvableKeysOf(draft.types.get(field.typeName), field.graph).length === 0) return false;
    const moves = chained.has(field) || remaining.some((other) => fieldsClash(field, other, syntheticFields));
    if (!moves) remaining.push(field);
    return moves;
  });
}

/** The fields with `@requires` that a field requires. */
function requiredBy(
  draft: SupergraphDraft,
  { typeName, requires }: RequiringField,
  requiring: readonly RequiringField[],
): RequiringField[] {
  const required: RequiringField[] = [];
  search(typeName, requires);
  return required;

  function search(parentName: string, { selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        search(selection.typeCondition?.name.value ?? parentName, selection.selectionSet);
      if (selection.kind !== Kind.FIELD) continue;
      const name = selection.name.value;
      const sameName = requiring.filter(({ fieldName }) => fieldName === name);
      required.push(...sameName.filter((candidate) => isSameOrRelated(draft, candidate.typeName, parentName)));
      const field = fieldNodeOf(draft.types.get(parentName)?.members.get(name));
      if (field && selection.selectionSet) search(namedTypeOf(field.type), selection.selectionSet);
    }
  }
}

/**
 * Whether two fields of one type and subgraph require one field with different arguments. synthetic-fields.ts has replaced the required field by a
 * synthetic field for each list of arguments, so two different names of one published field clash.
 */
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
