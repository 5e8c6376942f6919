// Stage 3 of 5: how to answer? A union may have other members in every subgraph. The planner holds a member that one of the subgraphs
// that could answer does not know for impossible, and asks none for it. So in the planner's supergraph they know each other's members.
import { type ConstDirectiveNode, Kind, type SelectionSetNode } from "graphql";
import { graphsOf, isForeign, isIn, joinDirective, keysOf, sayWhere } from "./join-directives.ts";
import {
  argumentOf,
  isNamed,
  type MemberDraft,
  namedTypeOf,
  parseFieldSet,
  stringOf,
  type SupergraphDraft,
  type TypeDraft,
  withArgument,
} from "./supergraph-draft.ts";

/** By service: types that it does not have in truth, so that nothing it sends is of them. */
export type Strangers = ReadonlyMap<string, ReadonlySet<string>>;

/** A member that the subgraph could not tell without types that it has in part is left as it is: the planner would find no way. */
export function completeUnions(draft: SupergraphDraft): Strangers {
  const strangers = new Map<string, Set<string>>();
  for (const { union, graph, member } of findMissing(draft)) {
    const strange = strangers.get(graph) ?? new Set();
    const added = collectAdded(draft, graph, member, strange);
    if (!added) continue;
    for (const typeName of added) addTo(draft.types.get(typeName), graph);
    union.directives = [...union.directives, joinMember(graph, member)];
    strangers.set(graph, new Set([...strange, ...added]));
  }
  return new Map([...strangers].map(([graph, types]) => [serviceOf(draft, graph), types]));
}

/** Members that are in another subgraph's part of the union, and whose type the subgraph does not know. */
function findMissing({ types }: SupergraphDraft) {
  const unions = [...types.values()].filter(({ node }) => node.kind === Kind.UNION_TYPE_DEFINITION);
  return unions.flatMap((union) => {
    const joins = union.directives.filter(isNamed("join__unionMember"));
    const members = new Set(joins.flatMap((one) => stringOf(one, "member") ?? []));
    return graphsOf(union).flatMap((graph) =>
      [...members].flatMap((member) => (hasType(types.get(member), graph) ? [] : [{ union, graph, member }])),
    );
  });
}

/** The member, and all below it that the subgraph does not have; undefined when it has some of that in part. */
function collectAdded(
  { types }: SupergraphDraft,
  graph: string,
  member: string,
  strange: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  const added = new Set(strange.has(member) ? [] : [member]);
  for (const typeName of added) {
    for (const below of toldFields(types.get(typeName)).flatMap(typesOf)) {
      const type = types.get(below);
      if (!type || added.has(below) || strange.has(below)) continue;
      if (hasType(type, graph) ? !isToldBy(type, graph) : isAbstract(type)) return undefined;
      if (!hasType(type, graph)) added.add(below);
    }
  }
  return added;
}

/** Of an entity its keys are enough, they lead to the rest; of another type, all. */
function toldFields(type: TypeDraft | undefined): readonly MemberDraft[] {
  if (!type) return [];
  const keys = graphsOf(type).flatMap((graph) => keysOf(type, graph));
  const names = new Set(keys.flatMap((key) => topNames(parseFieldSet(key))));
  return [...type.members].flatMap(([name, member]) => (keys.length === 0 || names.has(name) ? [member] : []));
}

function topNames({ selections }: SelectionSetNode): readonly string[] {
  return selections.flatMap((one) => (one.kind === Kind.FIELD ? one.name.value : []));
}

function isToldBy(type: TypeDraft, graph: string): boolean {
  return !isAbstract(type) && toldFields(type).every((field) => isIn(field, graph) && !isForeign(field, graph));
}

function isAbstract({ node: { kind } }: TypeDraft): boolean {
  return kind === Kind.INTERFACE_TYPE_DEFINITION || kind === Kind.UNION_TYPE_DEFINITION;
}

function hasType(type: TypeDraft | undefined, graph: string): boolean {
  return type !== undefined && graphsOf(type).includes(graph);
}

function typesOf({ node }: MemberDraft): readonly string[] {
  if (node.kind === Kind.ENUM_VALUE_DEFINITION) return [];
  const given = node.kind === Kind.FIELD_DEFINITION ? (node.arguments ?? []) : [];
  return [node, ...given].map(({ type }) => namedTypeOf(type));
}

function addTo(type: TypeDraft | undefined, graph: string): void {
  if (!type) return;
  const told = new Set(toldFields(type));
  for (const member of type.members.values()) {
    const joins = member.node.kind === Kind.ENUM_VALUE_DEFINITION ? "join__enumValue" : "join__field";
    const says = member.directives.some(isNamed(joins));
    if (says && told.has(member)) member.directives = [...member.directives, joinDirective(joins, graph)];
    if (!says && !told.has(member)) sayWhere(member, type);
  }
  type.directives = [...type.directives, joinDirective("join__type", graph)];
}

function joinMember(graph: string, member: string): ConstDirectiveNode {
  return withArgument(joinDirective("join__unionMember", graph), "member", { kind: Kind.STRING, value: member });
}

function serviceOf({ types }: SupergraphDraft, graph: string): string {
  const joinGraph = types.get("join__Graph")?.members.get(graph)?.directives.find(isNamed("join__graph"));
  return String(joinGraph && argumentOf(joinGraph, "name"));
}
