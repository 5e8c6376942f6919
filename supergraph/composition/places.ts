import type { ASTNode, DefinitionNode, DocumentNode, TypeDefinitionNode, TypeExtensionNode } from "graphql";
import { isTypeDefinitionNode, isTypeExtensionNode, Kind, parse, Source } from "graphql";
import type { SubgraphSource } from "../subgraphs.ts";

/** Lines and columns count from 1. */
export interface Place {
  readonly subgraph: string;
  readonly owner: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface ParsedSubgraph {
  readonly source: SubgraphSource;
  readonly document: DocumentNode;
}

export type NamedDefinition = TypeDefinitionNode | TypeExtensionNode;

export function isNamedDefinition(node: DefinitionNode): node is NamedDefinition {
  return isTypeDefinitionNode(node) || isTypeExtensionNode(node);
}

/** @throws GraphQLError if the schema has a syntax error or is missing. */
export function parseSubgraph(source: SubgraphSource): ParsedSubgraph {
  return { source, document: parse(new Source(source.sdl ?? "", source.file)) };
}

/** Undefined for a node that a library created. */
export function placeOfNode(node: ASTNode, sources: readonly SubgraphSource[]): Place | undefined {
  // A definition's location begins at its description, which may be long; a directive's begins at its `@`.
  const location = "name" in node && node.kind !== Kind.DIRECTIVE ? (node.name?.loc ?? node.loc) : node.loc;
  const source = sources.find((one) => one.file === location?.source.name);
  if (!location || !source) return undefined;
  const { line, column } = location.startToken;
  return { subgraph: source.name, owner: source.owner, file: source.file, line, column };
}

/** Of a dotted coordinate: "User", "User.posts", "Role.ADMIN". If a part does not exist, returns the part before it with `exact` false. */
export function findCoordinate(
  document: DocumentNode,
  coordinate: string,
): { readonly node: ASTNode; readonly exact: boolean } | undefined {
  const [typeName, ...memberNames] = coordinate.split(".").filter((part) => !part.startsWith("@"));
  const definitions = document.definitions.filter(isNamedDefinition).filter(({ name }) => name.value === typeName);
  const matches = definitions.map((definition) => descend(definition, memberNames));
  const [deepest] = matches.toSorted((a, b) => b.depth - a.depth);
  return deepest && { node: deepest.node, exact: deepest.depth === memberNames.length };
}

/** `depth` is the number of names that exist. */
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

export function membersOf(node: ASTNode): readonly ASTNode[] {
  if ("fields" in node) return node.fields ?? [];
  if ("values" in node && Array.isArray(node.values)) return node.values as readonly ASTNode[];
  if ("types" in node) return node.types ?? [];
  return "arguments" in node ? (node.arguments ?? []) : [];
}
