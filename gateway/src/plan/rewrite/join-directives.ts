// Stage 3 of 5: how to answer? The join directives: what of a supergraph is in which subgraph.
import { type ConstDirectiveNode, type DirectiveNode, Kind } from "graphql";
import {
  argumentOf,
  isNamed,
  isResolvable,
  type MemberDraft,
  stringOf,
  type TypeDraft,
  withArgument,
} from "./supergraph-draft.ts";

export function isOf(name: string, graph: string): (directive: DirectiveNode) => boolean {
  return (directive) => directive.name.value === name && argumentOf(directive, "graph") === graph;
}

export function withGraph(directive: ConstDirectiveNode, graph: string): ConstDirectiveNode {
  return withArgument(directive, "graph", { kind: Kind.ENUM, value: graph });
}

/** The directive that says no more than that something is in the subgraph. */
export function joinDirective(name: string, graph: string): ConstDirectiveNode {
  return withGraph({ kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name } }, graph);
}

function graphsOf({ directives }: TypeDraft): readonly string[] {
  const graphs = directives.filter(isNamed("join__type")).map((one) => argumentOf(one, "graph"));
  return [...new Set(graphs)].filter((graph) => typeof graph === "string");
}

/** Whether the field is in the subgraph, if its type is. */
export function isIn({ directives }: MemberDraft, graph: string): boolean {
  return !directives.some(isNamed("join__field")) || directives.some(isOf("join__field", graph));
}

/** The key field sets by which the subgraph can be entered. */
export function keysOf(type: TypeDraft | undefined, graph: string): readonly string[] {
  const resolvable = (type?.directives ?? []).filter(isOf("join__type", graph)).filter(isResolvable);
  return resolvable.flatMap((directive) => stringOf(directive, "key") ?? []);
}

/** Whether the subgraph cannot tell the field by itself. */
export function isForeign({ directives }: MemberDraft, graph: string): boolean {
  const own = directives.find(isOf("join__field", graph));
  return own !== undefined && (argumentOf(own, "external") === true || stringOf(own, "requires") !== undefined);
}

/** A field that says nothing is in all subgraphs of its type. Before there is one that it may not be in, it has to say in which it is. */
export function sayWhere(member: MemberDraft, type: TypeDraft): void {
  member.directives = [...member.directives, ...graphsOf(type).map((graph) => joinDirective("join__field", graph))];
}
