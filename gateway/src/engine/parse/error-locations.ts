// Stage 2 of 5: parse. Finds the locations of errors. Documents are parsed without locations, which would take two thirds of their memory; and
// graphql-js counts the lines again for each location: 600 ms for 100 errors below 100,000 lines.
import { type ASTNode, type DocumentNode, type GraphQLFormattedError, parse, type SourceLocation } from "graphql";

/** Of one error: one about a repeated argument can name a thousand nodes. */
const locationsMax = 20;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export type NodeLocations = ReadonlyMap<ASTNode, SourceLocation>;

/** @param document the text, parsed without locations. @param nodes of `document`. */
export function locateNodes(text: string, document: DocumentNode, nodes: readonly ASTNode[]): NodeLocations {
  const starts = findStarts(document, parse(text), new Set(nodes));
  const locations = new Map<ASTNode, SourceLocation>();
  let line = 1;
  let lineStart = 0;
  let index = 0;
  const startsInTextOrder = [...starts].toSorted(([, start], [, otherStart]) => start - otherStart);
  for (const [node, start] of startsInTextOrder) {
    while (index < start) {
      if (endsLine(text, index)) {
        line++;
        lineStart = index + 1;
      }
      index++;
    }
    locations.set(node, { line, column: start + 1 - lineStart });
  }
  return locations;
}

/** The members are in the order in which clients get them. */
export function withLocations(
  { message, extensions }: Pick<GraphQLFormattedError, "message" | "extensions">,
  nodes: readonly ASTNode[] = [],
  nodeLocations: NodeLocations,
): GraphQLFormattedError {
  const locations = nodes.slice(0, locationsMax).flatMap((node) => nodeLocations.get(node) ?? []);
  if (locations.length === 0) return extensions ? { message, extensions } : { message };
  return extensions ? { message, locations, extensions } : { message, locations };
}

/** Walks both trees in parallel until the offsets of all `nodes` are found. */
function findStarts(
  document: DocumentNode,
  locatedDocument: DocumentNode,
  nodes: Set<ASTNode>,
): ReadonlyMap<ASTNode, number> {
  const starts = new Map<ASTNode, number>();
  const pending: [object, object][] = [[document, locatedDocument]];
  for (let pair = pending.pop(); pair && starts.size < nodes.size; pair = pending.pop()) {
    const [node, locatedNode] = pair;
    if (nodes.has(node as ASTNode)) starts.set(node as ASTNode, (locatedNode as ASTNode).loc?.start ?? 0);
    for (const [key, child] of Object.entries(node) as [string, unknown][]) {
      if (typeof child !== "object" || child === null) continue;
      // Both trees have the same shape: `?? child` is only for the type.
      pending.push([child, (locatedNode as Record<string, object>)[key] ?? child]);
    }
  }
  return starts;
}

/** LineTerminator (GraphQL specification, 2.1.2). */
function endsLine(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code === lineFeed || (code === carriageReturn && text.charCodeAt(index + 1) !== lineFeed);
}
