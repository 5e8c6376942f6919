// For the log, when a supergraph is rejected: whose part of it is the cause.
import { type ConstDirectiveNode, type DocumentNode, parse } from "graphql";

interface SupergraphElement {
  readonly name: { readonly value: string };
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
}

/**
 * The subgraphs of the elements that the reason names: `Type.field`, everything with an applied `@directive`, or else a type in quotes. None for a
 * reason that is about no part of it, such as a syntax error.
 */
export function findNamedSubgraphs(supergraphSdl: string, reason: string): readonly string[] {
  const supergraph = tryParse(supergraphSdl);
  if (!supergraph) return [];
  const named = new Set(reason.match(/[\w.]+/g));
  const directives = new Set(reason.match(/(?<=@)\w+/g));
  const hasNamedDirective = ({ directives: applied = [] }: SupergraphElement) =>
    applied.some(({ name }) => directives.has(name.value));
  const types = supergraph.definitions.filter((node) => "directives" in node && "name" in node) as SupergraphElement[];
  const exact = types.flatMap((type) => [
    ...(hasNamedDirective(type) ? graphsOf(type) : []),
    ...membersOf(type)
      .filter((member) => named.has(`${type.name.value}.${member.name.value}`) || hasNamedDirective(member))
      .flatMap((member) => graphsOf(member, type)),
  ]);
  const quoted = types.filter(({ name }) => reason.includes(`"${name.value}"`));
  const graphs = new Set(exact.length > 0 ? exact : quoted.flatMap((type) => graphsOf(type)));
  const graphEnum = types.find(({ name }) => name.value === "join__Graph");
  const values = graphEnum ? membersOf(graphEnum).filter(({ name }) => graphs.has(name.value)) : [];
  return values.map(({ name, directives: [graph] = [] }) => (graph && stringOf(graph, "name")) ?? name.value);
}

function tryParse(supergraphSdl: string): DocumentNode | undefined {
  try {
    return parse(supergraphSdl, { noLocation: true });
  } catch {
    return undefined;
  }
}

function membersOf(type: SupergraphElement): readonly SupergraphElement[] {
  if ("fields" in type) return type.fields as readonly SupergraphElement[];
  return "values" in type ? (type.values as readonly SupergraphElement[]) : [];
}

/** The values of `join__Graph` in the join directives: those of a field, or if it has none, of its type. */
function graphsOf(element: SupergraphElement, type?: SupergraphElement): readonly string[] {
  const { directives = [] } = element;
  const joined = directives.filter(({ name }) => name.value.startsWith("join__"));
  const graphs = joined.flatMap((directive) => stringOf(directive, "graph") ?? []);
  return graphs.length > 0 || !type ? graphs : graphsOf(type);
}

/** Of a string or enum argument. */
function stringOf(directive: ConstDirectiveNode, argument: string): string | undefined {
  const value = directive.arguments?.find(({ name }) => name.value === argument)?.value;
  return value && "value" in value && typeof value.value === "string" ? value.value : undefined;
}
