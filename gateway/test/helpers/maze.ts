import { type RunningSubgraph, startSubgraph } from "./subgraphs.ts";

const names = ["north", "east", "south", "west"] as const;
const kinds = ["Hall", "Stair", "Cellar", "Attic"] as const;

/**
 * Subgraphs that all know the way from room to room, and each one thing more. What kind a room is nobody knows beforehand, so a
 * planner has to think of each kind at each step: its work grows with the power of the depth, while the operation stays small.
 */
export function startMaze(): Promise<readonly RunningSubgraph[]> {
  const room = { __typename: kinds[0], id: "1" };
  const ways = { next: () => room };
  return Promise.all(
    names.map((name) =>
      startSubgraph({
        name,
        typeDefs: `
          type Query { maze: Room @shareable }
          interface Room { id: ID! next: Room ${name}: Int }
          ${kinds.map((kind) => `type ${kind} implements Room @key(fields: "id") { id: ID! @shareable next: Room @shareable ${name}: Int }`).join("\n")}`,
        resolvers: {
          Query: { maze: () => room },
          ...Object.fromEntries(
            kinds.map((kind) => [kind, { ...ways, __resolveReference: () => room, [name]: () => 1 }]),
          ),
        },
      }),
    ),
  );
}

/** An operation that nobody sent before and that takes a planner long, far below every limit of size. */
export function writeHeavyOperation(count: number, depth: number): string {
  return `{ a${count}: maze { ${writeRoom(depth)} } }`;
}

function writeRoom(depth: number): string {
  const facts = names.join(" ");
  return depth === 0 ? facts : `${facts} next { ${writeRoom(depth - 1)} }`;
}
