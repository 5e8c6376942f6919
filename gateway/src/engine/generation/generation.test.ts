import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { expect, onTestFinished, test } from "vitest";
import { composeSupergraph } from "../../../test/helpers/subgraphs.ts";
import { createTestSettings } from "../../settings/testing/test-settings.ts";
import { readConfig } from "../../config.ts";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { buildGeneration } from "./generation.ts";
import { createEventLoopQueue } from "../parse/event-loop-queue.ts";
import { createPlannerPool } from "../plan/planner/planner-pool.ts";
import { createWriteCounts } from "../run/write-counts.ts";

test("an operation has the priority that the supergraph's subgraphs declare for its root fields", async () => {
  const typeDefs = `extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@composeDirective"])
    @link(url: "https://specs.tributary.example/priority/v1.0", import: ["@priority"])
    @composeDirective(name: "@priority")
    directive @priority(class: String!) on FIELD_DEFINITION
    type Query { order: Int @priority(class: "critical") posts: Int users: Int @priority(class: "background") }
    type Mutation { placeOrder: Int }`;
  const { validate } = await build(composeSupergraph([{ name: "one", url: "http://127.0.0.1:1", typeDefs }]));
  expect(await validate("{ order }")).toBe("critical");
  expect(await validate("{ posts }")).toBe("normal");
  expect(await validate("{ users }")).toBe("background");
  expect(await validate("mutation { placeOrder }")).toBe("critical");
});

async function build(supergraphSdl: string) {
  const observe = () => {};
  const config = readConfig({ SUPERGRAPH_URL: "http://127.0.0.1:1" });
  const plannerPool = createPlannerPool({ ...config.planning, workers: 1, observe });
  onTestFinished(() => plannerPool.close());
  const generation = await buildGeneration(supergraphSdl, {
    documents: {
      introspection: true,
      documentTokensMax: config.documentTokensMax,
      operationLimits: config.operationLimits,
      nextIteration: createEventLoopQueue(),
      persistedQueries: createBoundedMap<string>({ entriesMax: 1 }),
      observe,
    },
    configuration: () => createTestSettings().subgraphs,
    graceMs: 1_000,
    planning: config.planning,
    introspectionBytesMax: config.introspectionBytesMax,
    overrideLabels: [],
    fetchSharing: true,
    writesOf: createWriteCounts(),
    plannerPool,
    observe,
  });
  onTestFinished(() => generation.close());
  return {
    async validate(query: string) {
      const graphql = { query, operationName: undefined, variables: undefined, extensions: undefined };
      const operation = await generation.validation.validate({ method: "POST", graphql });
      return operation instanceof InvalidOperation ? operation.errors : operation.priority;
    },
  };
}
