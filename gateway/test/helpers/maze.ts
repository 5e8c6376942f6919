import { type RunningSubgraph, startSubgraph } from "./subgraphs.ts";

const names = ["north", "east", "south", "west"] as const;
const kinds = ["Hall", "Stair", "Cellar", "Attic"] as const;

/**
 * Subgraphs that all provide the field `next` from room to room, and each one field more. The type of a room is not known when an operation
 * is planned, so the planner considers each type at each level: its work grows exponentially with the depth, while the operation is small.
 */
export function startMaze(): Promise<readonly RunningSubgraph[]> {
  const room = { __typename: kinds[0], id: "1" };
  const links = { next: () => room };
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
            kinds.map((kind) => [kind, { ...links, __resolveReference: () => room, [name]: () => 1 }]),
          ),
        },
      }),
    ),
  );
}

/**
 * An operation that takes long to plan, far below every limit of size.
 * @param count makes the text differ from that of other operations, so that no plan is cached.
 * @param depth determines the planning time.
 */
export function writeHeavyOperation(count: number, depth: number): string {
  return `{ a${count}: maze { ${writeRoom(depth)} } }`;
}

function writeRoom(depth: number): string {
  const facts = names.join(" ");
  return depth === 0 ? facts : `${facts} next { ${writeRoom(depth - 1)} }`;
}
