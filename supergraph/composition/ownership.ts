import type { ConstDirectiveNode, DocumentNode } from "graphql";
import { Kind, parse } from "graphql";
import { findCoordinate } from "./places.ts";

/** Finds the subgraphs that own a coordinate of the API: those that resolve it. */
export interface Ownership {
  /** The names of all subgraphs in the supergraph. */
  readonly subgraphs: readonly string[];
  /** True if the supergraph defines exactly this coordinate, not only its type. */
  has(coordinate: string): boolean;
  /** The subgraphs that resolve the coordinate, or else the part of it that exists. Empty if its type does not exist. */
  findOwners(coordinate: string): readonly string[];
}

/** Reads ownership from a supergraph's join directives (https://specs.apollo.dev/join/v0.3). */
export function readOwnership(supergraphSdl: string): Ownership {
  const document = parse(supergraphSdl);
  const subgraphNames = readSubgraphNames(document);
  return {
    subgraphs: [...subgraphNames.values()],
    has: (coordinate) => findCoordinate(document, coordinate)?.exact === true,
    findOwners: (coordinate) => findGraphs(document, coordinate).map((graph) => subgraphNames.get(graph) ?? graph),
  };
}

/** The names of the subgraphs by value of the enum join__Graph: `enum join__Graph { USERS @join__graph(name: "users", url: "…") }`. */
function readSubgraphNames(document: DocumentNode): ReadonlyMap<string, string> {
  const graphEnum = document.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  const values = graphEnum?.kind === Kind.ENUM_TYPE_DEFINITION ? (graphEnum.values ?? []) : [];
  return new Map(
    values.map(({ name, directives = [] }) => [name.value, argumentOf(directives[0], "name") ?? name.value]),
  );
}

/** The values of join__Graph that own the coordinate. */
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

/** False for a field that its subgraph only refers to: it is @external there, or overridden by another subgraph. */
function isResolved(join: ConstDirectiveNode): boolean {
  return argumentOf(join, "external") !== "true" && argumentOf(join, "usedOverridden") !== "true";
}

function argumentOf(directive: ConstDirectiveNode | undefined, name: string): string | undefined {
  const value = directive?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value && "value" in value ? String(value.value) : undefined;
}
