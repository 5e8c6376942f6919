import { EventEmitter } from "node:events";
import { createIncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import { createCallers } from "@tributary/kit/caller/caller";
import { createReceipts } from "@tributary/kit/consistency/receipts";
import { buildSchema, type OperationDefinitionNode, OperationTypeNode, parse } from "graphql";
import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import type { GatewayExchange } from "./admit/exchange.ts";
import { createEventLoopQueue } from "./parse/event-loop-queue.ts";
import { createPipeline } from "./pipeline.ts";
import type { SupergraphStages } from "./supergraph-stages.ts";

test("the CPU time of two callers that alternate is measured for both", async () => {
  const cpuMs = { ada: 0, grace: 0 };
  for (let sent = 0; sent < 500; sent++) {
    cpuMs.ada += await respond();
    cpuMs.grace += await respond();
  }
  expect(cpuMs.ada).toBeGreaterThan(0);
  expect(cpuMs.grace).toBeGreaterThan(0);
});

const document = parse("{ a }");
const callers = createCallers({ trustedProxies: [], tokens: undefined, clientKeys: [] });
const observe = () => {};
const pipeline = createPipeline({
  ...readConfig({ SUPERGRAPH_FILE: "unused" }),
  exposesPlans: false,
  nextIteration: createEventLoopQueue(),
  callers,
  charges: {
    chargeVerification: () => undefined,
    chargeArrival: () => undefined,
    chargeOperation: () => undefined,
    debitDocument: () => undefined,
    debitResult: () => undefined,
  },
  receipts: createReceipts(["a key for tests only"]),
  incompleteRequests: createIncompleteRequests({ addressKeyOf: callers.addressKeyOf, observe }),
  observe,
});
const stages = {
  apiSchema: buildSchema("type Query { a: Int }"),
  plan: () => ({ kind: OperationTypeNode.QUERY, fetches: [], introspection: undefined }),
  run: () => Promise.resolve({}),
  shape: () => ({ body: Buffer.from("{}"), summary: undefined }),
} as unknown as SupergraphStages;

/** @returns the CPU time that is counted for the caller of one request. */
async function respond(): Promise<number> {
  const operation = document.definitions[0] as OperationDefinitionNode;
  const identity = { operationName: undefined, documentHash: "" };
  const validated = {
    source: "{ a }",
    document,
    operation,
    identity,
    priority: "normal",
    addRetainedBytes() {},
  } as const;
  const request = { method: "POST", url: "/graphql", headers: {} };
  const exchange = {
    ...{ request, response: new EventEmitter(), requestId: "1", trace: { traceId: "1", flags: "00" }, startedMs: 0 },
    ...{ headers: [], caller: undefined, documentCpuMs: 0, resultCpuMs: 0, record: undefined },
  } as unknown as GatewayExchange;
  const graphql = { query: "{ a }", operationName: undefined, variables: undefined, extensions: undefined };
  await pipeline.respond(stages, validated, { exchange, responseType: "application/json", graphql });
  return exchange.resultCpuMs;
}
