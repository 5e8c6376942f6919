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
  const names = readGraphNames(document);
  return {
    subgraphs: [...names.values()],
    has: (coordinate) => findCoordinate(document, coordinate)?.exact === true,
    findOwners: (coordinate) => findGraphs(document, coordinate).map((graph) => names.get(graph) ?? graph),
  };
}

function readGraphNames(document: DocumentNode): ReadonlyMap<string, string> {
  const graphs = document.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  const values = graphs?.kind === Kind.ENUM_TYPE_DEFINITION ? (graphs.values ?? []) : [];
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

function graphsOf(directives: readonly unknown[]): readonly string[] {
  const joins = (directives as readonly ConstDirectiveNode[]).filter(
    (directive) =>
      ["join__field", "join__type", "join__enumValue"].includes(directive.name.value) &&
      argumentOf(directive, "external") !== "true" &&
      argumentOf(directive, "usedOverridden") !== "true",
  );
  return [...new Set(joins.flatMap((directive) => argumentOf(directive, "graph") ?? []))];
}

function argumentOf(directive: ConstDirectiveNode | undefined, name: string): string | undefined {
  const value = directive?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value && "value" in value ? String(value.value) : undefined;
}
