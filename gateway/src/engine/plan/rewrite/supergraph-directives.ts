// Reads and changes the join directives (https://specs.apollo.dev/join): `@join__type(graph: USERS, key: "id")`, where `graph` is a value of the enum
// `join__Graph`.
import { type ConstDirectiveNode, type DirectiveNode, Kind } from "graphql";

export interface Joined {
  readonly directives: readonly ConstDirectiveNode[];
}

export function isNamed(name: string): (directive: DirectiveNode) => boolean {
  return (directive) => directive.name.value === name;
}

/** Of a string, enum or Boolean argument (text for a number too). */
export function argumentOf(directive: DirectiveNode, name: string): string | boolean | undefined {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value;
  return value !== undefined && "value" in value ? value.value : undefined;
}

export function stringOf(directive: DirectiveNode, name: string): string | undefined {
  const value = argumentOf(directive, name);
  return typeof value === "string" ? value : undefined;
}

/** @param value undefined removes the argument. */
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

export function isJoin(name: string, graph: string): (directive: DirectiveNode) => boolean {
  return (directive) => directive.name.value === name && argumentOf(directive, "graph") === graph;
}

export function withGraph(directive: ConstDirectiveNode, graph: string): ConstDirectiveNode {
  return withArgument(directive, "graph", { kind: Kind.ENUM, value: graph });
}

export function joinDirective(name: string, graph: string): ConstDirectiveNode {
  return withGraph({ kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name } }, graph);
}

export function graphsOf({ directives }: Joined): readonly string[] {
  const graphs = directives.filter(isNamed("join__type")).map((joinType) => argumentOf(joinType, "graph"));
  return [...new Set(graphs)].filter((graph) => typeof graph === "string");
}

/** By service: its value of the enum `join__Graph`. @param values of the enum, by name. */
export function readGraphs(values: Iterable<readonly [string, Partial<Joined>]>): ReadonlyMap<string, string> {
  const graphByService = new Map<string, string>();
  for (const [graph, { directives = [] }] of values) {
    const directive = directives.find(isNamed("join__graph"));
    graphByService.set((directive && stringOf(directive, "name")) ?? graph, graph);
  }
  return graphByService;
}

export function isResolvable(joinType: DirectiveNode): boolean {
  return argumentOf(joinType, "resolvable") !== false;
}

export function resolvableKeysOf(type: Joined | undefined, graph: string): readonly string[] {
  const resolvable = (type?.directives ?? []).filter(isJoin("join__type", graph)).filter(isResolvable);
  return resolvable.flatMap((directive) => stringOf(directive, "key") ?? []);
}

/** Correct only if the type that has the field is in the subgraph. */
export function isFieldIn({ directives }: Joined, graph: string): boolean {
  return !directives.some(isNamed("join__field")) || directives.some(isJoin("join__field", graph));
}

/** External there, or with `@requires`. */
export function needsOtherSubgraph({ directives }: Joined, graph: string): boolean {
  const fieldJoin = directives.find(isJoin("join__field", graph));
  if (!fieldJoin) return false;
  return argumentOf(fieldJoin, "external") === true || stringOf(fieldJoin, "requires") !== undefined;
}

export function isInterfaceObject(type: Joined | undefined, graph: string): boolean {
  const joins = type?.directives.filter(isJoin("join__type", graph)) ?? [];
  return joins.some((join) => argumentOf(join, "isInterfaceObject") === true);
}

/** The `@join__field` of a field that the subgraph does not resolve. */
export function asExternal(joinField: ConstDirectiveNode): ConstDirectiveNode {
  const withoutOthers = ["requires", "provides", "override", "overrideLabel"].reduce(
    (directive, name) => withArgument(directive, name, undefined),
    joinField,
  );
  return withArgument(withoutOthers, "external", { kind: Kind.BOOLEAN, value: true });
}
