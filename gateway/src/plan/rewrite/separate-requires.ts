// Stage 3 of 5: how to answer? Fields with `@requires` that the planner gets wrong in the subgraph they stand in get one to themselves.
import { type DirectiveNode, type FieldNode, Kind, type SelectionSetNode } from "graphql";
import { keysOf } from "./join-directives.ts";
import {
  argumentOf,
  fieldNodeOf,
  stringOf,
  isNamed,
  namedTypeOf,
  parseFieldSet,
  type SupergraphDraft,
  type TypeDraft,
  withArgument,
} from "./supergraph-draft.ts";
import type { Synthetics } from "./synthetic-fields.ts";
import { addVirtualSubgraph, type MovedField, type StandIns } from "./virtual-subgraph.ts";

/** Virtual subgraphs by name. */
export type VirtualSubgraphs = ReadonlyMap<string, VirtualSubgraph>;

interface VirtualSubgraph {
  /** The real one's name. */
  readonly service: string;
  readonly standIns: StandIns;
}

/** A field with `@requires` in one subgraph. */
interface Requirer extends MovedField {
  readonly requires: SelectionSetNode;
}

/**
 * Moves to virtual subgraphs
 * - fields whose requirements have requirements: the planner asks fields of one subgraph together, although one is needed for what the
 *   other requires, and takes fields that are external in a subgraph for its own;
 * - fields that require one field with other arguments than another field does: a representation has room for one.
 * Supergraphs of federation 1 are left as they are.
 */
export function separateRequires(draft: SupergraphDraft, synthetics: Synthetics): VirtualSubgraphs {
  const graphs = draft.types.get("join__Graph");
  const isFederation1 = draft.document.definitions.some(
    (node) => node.kind === Kind.DIRECTIVE_DEFINITION && node.name.value === "join__owner",
  );
  const virtuals = new Map<string, VirtualSubgraph>();
  if (!graphs || isFederation1) return virtuals;
  for (const { graph, moved } of findGroups(draft, synthetics)) {
    const virtual = addGraph(graphs, graph);
    const standIns = addVirtualSubgraph(draft, graph, virtual.value, moved);
    virtuals.set(virtual.name, { service: virtual.realName, standIns });
  }
  return virtuals;
}

/** Adds a value to `join__Graph` that names the same service. */
function addGraph({ members }: TypeDraft, graph: string) {
  const real = members.get(graph);
  const joinGraph = real?.directives.find(isNamed("join__graph"));
  if (!real || !joinGraph) throw new Error(`The supergraph has no subgraph ${graph}`);
  const realName = String(argumentOf(joinGraph, "name"));
  const value = `${graph}__${members.size}`;
  const name = `${realName}#${members.size}`;
  const node = { kind: Kind.ENUM_VALUE_DEFINITION, name: { kind: Kind.NAME, value } } as const;
  members.set(value, { node, directives: [withArgument(joinGraph, "name", { kind: Kind.STRING, value: name })] });
  return { value, name, realName };
}

interface Group {
  readonly graph: string;
  readonly moved: Requirer[];
}

/** As few virtual subgraphs as can be. Fields that clash, or lead to one another, are not together. */
function findGroups(draft: SupergraphDraft, synthetics: Synthetics): readonly Group[] {
  const requirers = findRequirers(draft);
  const groups: Group[] = [];
  for (const field of findMoved(draft, requirers, synthetics)) {
    const isApart = (other: Requirer) =>
      isLeaf(draft, other) &&
      !clash(field, other, synthetics) &&
      !leadsTo(draft, field, other, requirers) &&
      !leadsTo(draft, other, field, requirers) &&
      !(isInterface(draft, other) && isInterface(draft, field) && other.typeName !== field.typeName);
    const group = groups.find(
      ({ graph, moved }) => graph === field.graph && isLeaf(draft, field) && moved.every(isApart),
    );
    if (group) group.moved.push(field);
    else groups.push({ graph: field.graph, moved: [field] });
  }
  return groups;
}

/** Of an interface object: one object type must not stand for two of them. */
function isInterface({ types }: SupergraphDraft, { typeName }: Requirer): boolean {
  return types.get(typeName)?.node.kind === Kind.INTERFACE_TYPE_DEFINITION;
}

function isLeaf({ types }: SupergraphDraft, { typeName, fieldName }: Requirer): boolean {
  const field = fieldNodeOf(types.get(typeName)?.members.get(fieldName));
  const kind = field && types.get(namedTypeOf(field.type))?.node.kind;
  return kind === undefined || kind === Kind.SCALAR_TYPE_DEFINITION || kind === Kind.ENUM_TYPE_DEFINITION;
}

function leadsTo(draft: SupergraphDraft, from: Requirer, to: Requirer, all: readonly Requirer[]): boolean {
  const seen = new Set([from]);
  for (const one of seen) requiredBy(draft, one, all).forEach((required) => seen.add(required));
  return from !== to && seen.has(to);
}

function findRequirers({ types }: SupergraphDraft): readonly Requirer[] {
  return [...types].flatMap(([typeName, { members }]) =>
    [...members].flatMap(([fieldName, { directives }]) =>
      directives.filter(isNamed("join__field")).flatMap((directive) => {
        const [graph, requires] = [stringOf(directive, "graph"), stringOf(directive, "requires")];
        if (graph === undefined || requires === undefined || isOverridden(directive)) return [];
        return [{ typeName, fieldName, graph, requires: parseFieldSet(requires) }];
      }),
    ),
  );
}

/** Another subgraph resolves the field; with a label, it may. */
function isOverridden(joinField: DirectiveNode): boolean {
  return argumentOf(joinField, "usedOverridden") === true && argumentOf(joinField, "overrideLabel") === undefined;
}

function findMoved(
  draft: SupergraphDraft,
  requirers: readonly Requirer[],
  synthetics: Synthetics,
): readonly Requirer[] {
  const chained = new Set(
    requirers.flatMap((one) => {
      const required = requiredBy(draft, one, requirers);
      return required.length === 0 ? [] : [one, ...required];
    }),
  );
  const kept: Requirer[] = [];
  return requirers.filter((requirer) => {
    // What cannot be entered has no way back to the field.
    if (keysOf(draft.types.get(requirer.typeName), requirer.graph).length === 0) return false;
    const moves = chained.has(requirer) || kept.some((other) => clash(requirer, other, synthetics));
    if (!moves) kept.push(requirer);
    return moves;
  });
}

/** The fields with `@requires` that a field requires. */
function requiredBy(draft: SupergraphDraft, { typeName, requires }: Requirer, all: readonly Requirer[]): Requirer[] {
  const found: Requirer[] = [];
  search(typeName, requires);
  return found;

  function search(parentName: string, { selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        search(selection.typeCondition?.name.value ?? parentName, selection.selectionSet);
      if (selection.kind !== Kind.FIELD) continue;
      const name = selection.name.value;
      found.push(...all.filter((one) => one.fieldName === name && isSameOrRelated(draft, one.typeName, parentName)));
      const field = fieldNodeOf(draft.types.get(parentName)?.members.get(name));
      if (field && selection.selectionSet) search(namedTypeOf(field.type), selection.selectionSet);
    }
  }
}

/** One type, or an interface and a type that implements it. */
export function isSameOrRelated({ types }: SupergraphDraft, one: string, other: string): boolean {
  return one === other || implementsIt(types.get(one), other) || implementsIt(types.get(other), one);
}

function implementsIt(type: TypeDraft | undefined, interfaceName: string): boolean {
  if (!type || !("interfaces" in type.node)) return false;
  return (type.node.interfaces ?? []).some(({ name }) => name.value === interfaceName);
}

function clash(one: Requirer, other: Requirer, synthetics: Synthetics): boolean {
  return (
    one.graph === other.graph && one.typeName === other.typeName && setsClash(one.requires, other.requires, synthetics)
  );
}

/** Whether the two ask fields of one name that are not one field. Types are left out of account: too much is moved, never too little. */
function setsClash(one: SelectionSetNode, other: SelectionSetNode, synthetics: Synthetics): boolean {
  return fieldsOf(one).some((field) =>
    fieldsOf(other).some((rival) => {
      const [name, rivalName] = [field.name.value, rival.name.value];
      const realName = synthetics.get(name)?.field ?? name;
      if (name !== rivalName) return realName === (synthetics.get(rivalName)?.field ?? rivalName);
      return field.selectionSet && rival.selectionSet && setsClash(field.selectionSet, rival.selectionSet, synthetics);
    }),
  );
}

function fieldsOf({ selections }: SelectionSetNode): readonly FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    return selection.kind === Kind.INLINE_FRAGMENT ? fieldsOf(selection.selectionSet) : [];
  });
}
