import { EventEmitter } from "node:events";
import { createReceipts } from "@tributary/kit/consistency/receipts";
import { buildSchema, type OperationDefinitionNode, OperationTypeNode, parse } from "graphql";
import { describe, expect, onTestFinished, test } from "vitest";
import { InvalidOperation } from "../errors/invalid-operation.ts";
import { Rejection } from "../errors/rejections.ts";
import { execute } from "./execute.ts";
import type { ExecuteOptions, ExecutionRequest } from "./execution.ts";
import type { GatewayObservation } from "../observations.ts";
import { createEventLoopQueue } from "./parse/event-loop-queue.ts";
import type { CompiledPlan } from "./plan/compile/compiled-plan.ts";
import type { ValidatedOperation } from "./parse/validated-operation.ts";
import type { SupergraphStages } from "./generation/supergraph-stages.ts";
import type { DocumentValidator } from "./generation/apollo-validation.ts";

// The engine without HTTP: these tests create no server, request or response.

test("a stored operation is executed without validation", async () => {
  expect(await run()).toMatchObject({ kind: "executed", body: Buffer.from('{"data":{}}'), summary: undefined });
});

test("a document that is not stored is validated", async () => {
  const result = await run({ operation: undefined }, { validate: () => Promise.resolve(stored) });
  expect(result).toMatchObject({ kind: "executed" });
});

describe("results without data", () => {
  test("the errors of an invalid document", async () => {
    const invalid = new InvalidOperation([{ message: "Syntax Error" }]);
    const result = await run({ operation: undefined }, { validate: () => Promise.resolve(invalid) });
    expect(result).toEqual({ kind: "invalid", operation: invalid });
  });

  test("the errors of variables", async () => {
    const result = await run({ graphql: { ...graphql, variables: { id: {} } } });
    const extensions = { code: "BAD_USER_INPUT" };
    expect(result).toMatchObject({ kind: "invalid", operation: { errors: [{ extensions }] } });
  });

  test("a rejection, with the operation that it concerns", async () => {
    const error = new Rejection("OPERATION_TOO_COMPLEX");
    expect(await run({}, { plan: () => Promise.reject(error) })).toEqual({ kind: "rejected", error, identity });
  });

  test("a bug before the operation is known", async () => {
    const error = new Error("bug");
    const result = await run({ operation: undefined }, { validate: () => Promise.reject(error) });
    expect(result).toEqual({ kind: "rejected", error, identity: undefined });
  });
});

test("fetches are aborted when the connection closes during the run", async () => {
  const observations: GatewayObservation[] = [];
  const connection = Object.assign(new EventEmitter(), { closed: false });
  const parts: Partial<SupergraphStages> = {
    run(_plan, _operation, _variables, { deadline }) {
      const signal = deadline.signal();
      connection.emit("close");
      return Promise.reject(new Error(String(signal.reason)));
    },
  };
  const result = await run({ connection }, parts, (observation) => observations.push(observation));
  expect(result).toMatchObject({ kind: "rejected", error: new Error("disconnected") });
  expect(observations).toEqual([{ kind: "client-disconnected", requestId: "1", traceId: "1", ...identity }]);
  expect(connection.listenerCount("close")).toBe(0);
});

test("no fetch is sent if planning has taken until the deadline", async () => {
  let reason: unknown;
  const parts: Partial<SupergraphStages> = {
    plan: async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return { kind: OperationTypeNode.MUTATION, fetches: [], introspection: undefined } as unknown as CompiledPlan;
    },
    run(_plan, _operation, _variables, { deadline }) {
      ({ reason } = deadline.signal());
      return Promise.reject(new Error("aborted"));
    },
  };
  await run({}, parts, undefined, 20);
  expect(reason).toBe("timeout");
});

test("the CPU time of two callers that alternate is measured for both", async () => {
  const ada = { documentCpuMs: 0, resultCpuMs: 0 };
  const grace = { documentCpuMs: 0, resultCpuMs: 0 };
  for (let sent = 0; sent < 500; sent++) {
    await run({ cpu: ada });
    await run({ cpu: grace });
  }
  expect(ada.resultCpuMs).toBeGreaterThan(0);
  expect(grace.resultCpuMs).toBeGreaterThan(0);
});

test("the CPU time of the result is counted in full, with that of the document, if the document is new", async () => {
  const shape: SupergraphStages["shape"] = () => {
    const endsAtMs = performance.now() + 5;
    while (performance.now() < endsAtMs);
    return { body: Buffer.from('{"data":{}}'), isOwn: true, summary: undefined, problems: [] };
  };
  const known = { documentCpuMs: 0, resultCpuMs: 0 };
  await run({ cpu: known }, { shape });
  expect(known.documentCpuMs).toBe(0);
  const added = { documentCpuMs: 3, resultCpuMs: 0 };
  await run({ cpu: added }, { shape });
  expect(added.documentCpuMs).toBeGreaterThanOrEqual(8);
  expect(added.resultCpuMs).toBe(0);
});

test("the first results of several new documents are written in an iteration of the event loop each", async () => {
  let iteration = 0;
  let counting = setImmediate(count);
  onTestFinished(() => clearImmediate(counting));
  function count(): void {
    iteration++;
    counting = setImmediate(count);
  }
  const writtenIn = async (documentCpuMs: number) => {
    const iterations: number[] = [];
    const plan = () =>
      ({ kind: OperationTypeNode.QUERY, fetches: [{}], introspection: undefined }) as unknown as CompiledPlan;
    const shape: SupergraphStages["shape"] = () => {
      iterations.push(iteration);
      return { body: Buffer.from('{"data":{}}'), isOwn: true, summary: undefined, problems: [] };
    };
    const requests = [1, 2, 3].map(() => run({ cpu: { documentCpuMs, resultCpuMs: 0 } }, { plan, shape }));
    await Promise.all(requests);
    return new Set(iterations).size;
  };
  expect(await writtenIn(1)).toBe(3);
  expect(await writtenIn(0)).toBe(1);
});

const nextIteration = createEventLoopQueue();
const identity = { operationName: undefined, documentHash: "" };
const source = "query ($id: ID) { a(id: $id) }";
// As stage 2 parses documents; error-locations.ts finds the locations of nodes without them.
const document = parse(source, { noLocation: true });
const stored: ValidatedOperation = {
  source,
  document,
  operation: document.definitions[0] as OperationDefinitionNode,
  identity,
  isIncremental: false,
  priority: "normal",
  addRetainedBytes() {},
};
const graphql = { query: source, operationName: undefined, variables: undefined, extensions: undefined };

function run(
  request: Partial<ExecutionRequest> = {},
  parts: Partial<SupergraphStages & DocumentValidator> = {},
  observe: ExecuteOptions["observe"] = () => {},
  requestTimeoutMs = 1_000,
) {
  const stages = {
    apiSchema: buildSchema("type Query { a(id: ID): Int }"),
    plan: () => ({ kind: OperationTypeNode.QUERY, fetches: [], introspection: undefined }),
    run: () => Promise.resolve({}),
    shape: () => ({ body: Buffer.from('{"data":{}}'), isOwn: true, summary: undefined, problems: [] }),
    ...parts,
  } as unknown as SupergraphStages;
  const validation = { validate: () => Promise.reject(new Error("not called")), ...parts } as DocumentValidator;
  const executed: ExecutionRequest = {
    requestId: "1",
    trace: { traceId: "1", flags: "00" },
    graphql,
    operation: stored,
    method: "POST",
    subgraphs: new Map(),
    authorization: undefined,
    client: { headers: {}, claims: undefined },
    rejectBlocked: undefined,
    receipts: undefined,
    caller: undefined,
    isCacheable: false,
    wantsQueryPlan: false,
    startedMs: performance.now(),
    connection: Object.assign(new EventEmitter(), { closed: false }),
    endsAtMs: Infinity,
    cpu: { documentCpuMs: 0, resultCpuMs: 0 },
    record: undefined,
    ...request,
  };
  return execute({ stages, validation }, executed, {
    requestTimeoutMs,
    measuresStages: false,
    isDevelopment: false,
    receipts: createReceipts(["a key for tests only"]),
    charges: { shareKeyOf: () => undefined, chargeOperation() {}, debitResult() {} },
    nextIteration,
    observe,
  });
}
