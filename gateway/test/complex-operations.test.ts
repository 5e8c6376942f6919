import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { startMaze, writeHeavyOperation } from "./helpers/maze.ts";
import { composeSupergraph, type RunningSubgraph } from "./helpers/subgraphs.ts";

let maze: readonly RunningSubgraph[];
let gateway: RunningGateway;

beforeAll(async () => {
  maze = await startMaze();
  gateway = await startGateway({ supergraphSdl: composeSupergraph(maze) });
});
afterAll(async () => {
  await gateway.drain();
  await Promise.all(maze.map((subgraph) => subgraph.close()));
});

test("an operation with many possible plans is planned", async () => {
  const { body } = await gateway.send(writeHeavyOperation(0, 2));
  expect(body.errors).toBeUndefined();
  expect(body.data.a0.next.next).toEqual({ north: 1, east: 1, south: 1, west: 1 });
});

test("an operation with too many possible plans is rejected, and no planner thread is replaced", async () => {
  for (const depth of [3, 4, 8]) {
    const { body } = await gateway.send(writeHeavyOperation(0, depth));
    expect(body.errors).toMatchObject([{ extensions: { code: "OPERATION_TOO_COMPLEX" } }]);
  }
  expect(gateway.observations.filter(({ kind }) => kind === "planner-replaced")).toEqual([]);
});
