import type { ASTNode, DefinitionNode, DocumentNode, TypeDefinitionNode, TypeExtensionNode } from "graphql";
import { isTypeDefinitionNode, isTypeExtensionNode, Kind, parse, Source } from "graphql";
import type { SubgraphSource } from "../subgraphs.ts";

/** A line in a subgraph's file. Lines and columns count from 1. */
export interface Place {
  readonly subgraph: string;
  readonly owner: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A parsed schema. Every node's location has the file name. */
export interface ParsedSubgraph {
  readonly source: SubgraphSource;
  readonly document: DocumentNode;
}

export type NamedDefinition = TypeDefinitionNode | TypeExtensionNode;

export function isNamedDefinition(node: DefinitionNode): node is NamedDefinition {
  return isTypeDefinitionNode(node) || isTypeExtensionNode(node);
}

/** @throws GraphQLError if the schema has a syntax error. A missing file counts as an empty schema, which is a syntax error. */
export function parseSubgraph(source: SubgraphSource): ParsedSubgraph {
  return { source, document: parse(new Source(source.sdl ?? "", source.file)) };
}

/** The place of a node from `parseSubgraph`; undefined for a node that a library created. */
export function placeOfNode(node: ASTNode, sources: readonly SubgraphSource[]): Place | undefined {
  // A definition's location begins at its description, which may be long, so its name is used. A directive's location begins at its `@`.
  const location = "name" in node && node.kind !== Kind.DIRECTIVE ? (node.name?.loc ?? node.loc) : node.loc;
  const source = sources.find((one) => one.file === location?.source.name);
  if (!location || !source) return undefined;
  const { line, column } = location.startToken;
  return { subgraph: source.name, owner: source.owner, file: source.file, line, column };
}

/**
 * Finds the definition of a dotted coordinate ("User", "User.posts", "User.posts.first", "Role.ADMIN") in any schema or supergraph. If a part
 * does not exist, returns the part before it with `exact` false; undefined if the type does not exist. Directives in a coordinate are ignored.
 */
export function findCoordinate(
  document: DocumentNode,
  coordinate: string,
): { readonly node: ASTNode; readonly exact: boolean } | undefined {
  const [typeName, ...memberNames] = coordinate.split(".").filter((part) => !part.startsWith("@"));
  // A type can have several definitions: itself and its extensions.
  const definitions = document.definitions.filter(isNamedDefinition).filter(({ name }) => name.value === typeName);
  const matches = definitions.map((definition) => descend(definition, memberNames));
  const [deepest] = matches.toSorted((a, b) => b.depth - a.depth);
  return deepest && { node: deepest.node, exact: deepest.depth === memberNames.length };
}

/** Follows the names from member to member as far as they exist. `depth` is the number of names that exist. */
function descend(start: ASTNode, names: readonly string[]): { node: ASTNode; depth: number } {
  let node = start;
  let depth = 0;
  for (const name of names) {
    const next = membersOf(node).find((member) => "name" in member && member.name?.value === name);
    if (!next) break;
    node = next;
    depth += 1;
  }
  return { node, depth };
}

/** The fields of a type, the values of an enum, the types of a union, or the arguments of a field. */
export function membersOf(node: ASTNode): readonly ASTNode[] {
  if ("fields" in node) return node.fields ?? [];
  if ("values" in node && Array.isArray(node.values)) return node.values as readonly ASTNode[];
  if ("types" in node) return node.types ?? [];
  return "arguments" in node ? (node.arguments ?? []) : [];
}
