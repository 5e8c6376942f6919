import { type ConstDirectiveNode, type DocumentNode, Kind, parse } from "graphql";
import { findCoordinate } from "./places.ts";

/** Finds the subgraphs that own a coordinate of the API: those that resolve it. */
export interface Ownership {
  readonly subgraphs: readonly string[];
  has(coordinate: string): boolean;
  findOwners(coordinate: string): readonly string[];
}

/** From a supergraph's join directives (https://specs.apollo.dev/join/v0.3). */
export function readOwnership(supergraphSdl: string): Ownership {
  const document = parse(supergraphSdl);
  const subgraphNames = readSubgraphNames(document);
  return {
    subgraphs: [...subgraphNames.values()],
    has: (coordinate) => findCoordinate(document, coordinate)?.exact === true,
    findOwners: (coordinate) => findGraphs(document, coordinate).map((graph) => subgraphNames.get(graph) ?? graph),
  };
}

/** By value of `enum join__Graph { USERS @join__graph(name: "users", url: "…") }`. */
function readSubgraphNames(document: DocumentNode): ReadonlyMap<string, string> {
  const graphEnum = document.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  const values = graphEnum?.kind === Kind.ENUM_TYPE_DEFINITION ? (graphEnum.values ?? []) : [];
  return new Map(
    values.map(({ name, directives = [] }) => [name.value, argumentOf(directives[0], "name") ?? name.value]),
  );
}

function findGraphs(document: DocumentNode, coordinate: string): readonly string[] {
  const parts = coordinate.split(".");
  // An argument has no join directive: its field's owners own it. A field without one belongs to every subgraph of its type.
  for (let length = parts.length; length > 0; length -= 1) {
    const match = findCoordinate(document, parts.slice(0, length).join("."));
    const graphs = match?.exact && "directives" in match.node ? graphsOf(match.node.directives ?? []) : [];
    if (graphs.length > 0) return graphs;
  }
  return [];
}

const joinDirectives: ReadonlySet<string> = new Set(["join__field", "join__type", "join__enumValue"]);

function graphsOf(directives: readonly unknown[]): readonly string[] {
  const joins = (directives as readonly ConstDirectiveNode[]).filter(
    (directive) => joinDirectives.has(directive.name.value) && isResolved(directive),
  );
  return [...new Set(joins.flatMap((directive) => argumentOf(directive, "graph") ?? []))];
}

/** False for a field that is @external in its subgraph, or overridden by another one. */
function isResolved(join: ConstDirectiveNode): boolean {
  return argumentOf(join, "external") !== "true" && argumentOf(join, "usedOverridden") !== "true";
}

function argumentOf(directive: ConstDirectiveNode | undefined, name: string): string | undefined {
  const value = directive?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value && "value" in value ? String(value.value) : undefined;
}
