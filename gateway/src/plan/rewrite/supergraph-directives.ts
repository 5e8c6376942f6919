// Reads and changes the directives of a supergraph. The join directives (https://specs.apollo.dev/join) state which type, field or enum value is
// in which subgraph: `@join__type(graph: USERS, key: "id")`. `graph` is a value of the enum `join__Graph`.
import { type ConstDirectiveNode, type DirectiveNode, Kind } from "graphql";
import type { MemberDraft, TypeDraft } from "./supergraph-draft.ts";

export function isNamed(name: string): (directive: DirectiveNode) => boolean {
  return (directive) => directive.name.value === name;
}

/** The value of a string, enum or Boolean argument (text for a number too). Undefined for an absent argument and other values. */
export function argumentOf(directive: DirectiveNode, name: string): string | boolean | undefined {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value;
  return value !== undefined && "value" in value ? value.value : undefined;
}

export function stringOf(directive: DirectiveNode, name: string): string | undefined {
  const value = argumentOf(directive, name);
  return typeof value === "string" ? value : undefined;
}

/** The directive with an argument added, replaced, or (value undefined) removed. */
export function withArgument(
  directive: ConstDirectiveNode,
  name: string,
  value:
    | { readonly kind: Kind.STRING | Kind.ENUM; readonly value: string }
    | { readonly kind: Kind.BOOLEAN; readonly value: boolean }
    | undefined,
): ConstDirectiveNode {
  const args = directive.arguments ?? [];
  if (value === undefined) return { ...directive, arguments: args.filter((arg) => arg.name.value !== name) };
  const newArgument = { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value } as const;
  const isPresent = args.some((arg) => arg.name.value === name);
  if (!isPresent) return { ...directive, arguments: [...args, newArgument] };
  return { ...directive, arguments: args.map((arg) => (arg.name.value === name ? newArgument : arg)) };
}

/** Matches the join directive of this name for this subgraph. */
export function isJoin(name: string, graph: string): (directive: DirectiveNode) => boolean {
  return (directive) => directive.name.value === name && argumentOf(directive, "graph") === graph;
}

export function withGraph(directive: ConstDirectiveNode, graph: string): ConstDirectiveNode {
  return withArgument(directive, "graph", { kind: Kind.ENUM, value: graph });
}

/** A join directive whose only argument is the subgraph. */
export function joinDirective(name: string, graph: string): ConstDirectiveNode {
  return withGraph({ kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name } }, graph);
}

/** The subgraphs that define the type. */
function graphsOf({ directives }: TypeDraft): readonly string[] {
  const graphs = directives.filter(isNamed("join__type")).map((joinType) => argumentOf(joinType, "graph"));
  return [...new Set(graphs)].filter((graph) => typeof graph === "string");
}

/** Whether the subgraph can resolve entities by the key of this `@join__type`. */
export function isResolvable(joinType: DirectiveNode): boolean {
  return argumentOf(joinType, "resolvable") !== false;
}

/** The field sets of the keys by which the subgraph resolves entities of the type. */
export function resolvableKeysOf(type: TypeDraft | undefined, graph: string): readonly string[] {
  const resolvable = (type?.directives ?? []).filter(isJoin("join__type", graph)).filter(isResolvable);
  return resolvable.flatMap((directive) => stringOf(directive, "key") ?? []);
}

/** Whether the field is in the subgraph. Correct only if the type that has the field is in the subgraph. */
export function isFieldIn({ directives }: MemberDraft, graph: string): boolean {
  return !directives.some(isNamed("join__field")) || directives.some(isJoin("join__field", graph));
}

/** Whether the subgraph cannot resolve the field alone: the field is external there, or has `@requires`. */
export function needsOtherSubgraph({ directives }: MemberDraft, graph: string): boolean {
  const fieldJoin = directives.find(isJoin("join__field", graph));
  if (!fieldJoin) return false;
  return argumentOf(fieldJoin, "external") === true || stringOf(fieldJoin, "requires") !== undefined;
}

/**
 * Gives a field without `@join__field` one for each subgraph of its type. Without `@join__field`, a field is in all of these subgraphs, so this is
 * called before the type is added to a subgraph that does not have the field.
 */
export function addExplicitJoins(member: MemberDraft, type: TypeDraft): void {
  member.directives = [...member.directives, ...graphsOf(type).map((graph) => joinDirective("join__field", graph))];
}
