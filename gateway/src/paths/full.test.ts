import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createCors } from "@tributary/kit/http/cors";
import { buildSchema } from "graphql";
import { afterEach, expect, test } from "vitest";
import { createExchangeFactory } from "../admit/exchange.ts";
import { Rejection } from "../errors/rejections.ts";
import { createPipeline } from "../pipeline.ts";
import type { SupergraphStages } from "../supergraph-stages.ts";
import { createResponseSender } from "../shape/send-response.ts";
import type { Generation, Generations } from "../supergraph/generations.ts";
import type { GatewayObservation } from "../observations.ts";
import { createFullPath } from "./full.ts";
import { createOperationStore } from "../parse/operation-store.ts";

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

const emptyResponse = { status: 200, contentType: "application/json; charset=utf-8", body: Buffer.from("{}") };

test("a generation is released with the response", async () => {
  const { post, pins } = await setUp(() => Promise.resolve(emptyResponse));
  expect((await post()).status).toBe(200);
  expect(pins).toEqual({ pinned: 1, released: 1 });
});

test("a generation is released when a bug is thrown, and the client gets JSON without the reason", async () => {
  const cause = new Error("SELECT secret");
  const { post, pins, observations } = await setUp(() => Promise.reject(cause));
  const response = await post();
  expect(response.status).toBe(500);
  expect(await response.text()).toBe(
    '{"errors":[{"message":"Internal error. Retry later.","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}',
  );
  expect(pins).toEqual({ pinned: 1, released: 1 });
  expect(observations).toEqual([{ kind: "internal-error", requestId: "r-1", traceId: expect.any(String), cause }]);
});

test("no generation is pinned for a request that cannot be read", async () => {
  const { post, pins } = await setUp(() => Promise.reject(new Error("not called")));
  expect((await post("{")).status).toBe(400);
  expect(pins.pinned).toBe(0);
});

async function setUp(validate: Generation["validation"]["validate"]) {
  const pins = { pinned: 0, released: 0 };
  const observations: GatewayObservation[] = [];
  const observe = (observation: GatewayObservation) => void observations.push(observation);
  const generations = createFakeGenerations(validate, pins);
  const about = { graphqlBodyBytesMax: 1_000, requestTimeoutMs: 1_000, exposesPlans: false, serverTiming: false };
  const pipeline = createPipeline({ ...about, observe });
  const send = createResponseSender({ responseTimeoutMs: 1_000, observe });
  const fullPath = createFullPath({ pipeline, generations, send, observe });
  const createExchange = createExchangeFactory(createCors({ origins: [], allowedHeaders: [], exposedHeaders: [] }));
  const listening = createServer((request, response) => void fullPath(createExchange(request, response)));
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/graphql`;
  const headers = { "content-type": "application/json", "x-request-id": "r-1" };
  const post = (body = '{"query":"{ a }"}') => fetch(url, { method: "POST", headers, body });
  return { post, pins, observations };
}

function createFakeGenerations(
  validate: Generation["validation"]["validate"],
  pins: { pinned: number; released: number },
): Generations {
  const stages: SupergraphStages = {
    apiSchema: buildSchema("type Query { a: Int }"),
    plan: () => Promise.reject(new Rejection("OPERATION_TOO_COMPLEX")),
    run: () => Promise.reject(new Error("not called")),
    shape: () => {
      throw new Error("not called");
    },
    explain: () => Promise.resolve(undefined),
    prepare: () => Promise.resolve(),
    conditionsOf: () => [],
    sizeOfIntrospection: () => ({ entries: 0, weight: 0 }),
  };
  const generation: Generation = {
    apiSdl: "",
    subgraphs: [],
    stages,
    validation: { validate, hasRequestHooks: false, close: () => Promise.resolve() },
    operations: createOperationStore({ documentsMax: 1, bytesMax: 1 }),
    sizeOfPlans: () => ({ entries: 0, weight: 0 }),
    listMostUsed: () => [],
    warm: () => Promise.resolve(),
    retire: () => {},
    close: () => Promise.resolve(),
  };
  return {
    current: generation,
    currentId: "g",
    pin: () => {
      pins.pinned++;
      return { generation, release: () => void pins.released++ };
    },
    load: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
