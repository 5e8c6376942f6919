import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createCors } from "@tributary/kit/http/cors";
import { buildSchema } from "graphql";
import { afterEach, expect, test } from "vitest";
import { createIntroduction } from "../admit/exchange.ts";
import { Refusal } from "../errors/codes.ts";
import { createPipeline } from "../pipeline.ts";
import type { Engine } from "../supergraph-stages.ts";
import { createWriter } from "../shape/send-response.ts";
import type { Generation, Generations } from "../supergraph/generations.ts";
import type { Observation } from "../telemetry/observation-log.ts";
import { createFullLane } from "./full.ts";
import { createOperations } from "../parse/operation-store.ts";

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

const fine = { status: 200, contentType: "application/json; charset=utf-8", body: Buffer.from("{}") };

test("a generation is let go with the answer", async () => {
  const { post, pins } = await setUp(() => Promise.resolve(fine));
  expect((await post()).status).toBe(200);
  expect(pins).toEqual({ taken: 1, released: 1 });
});

test("a generation is let go when answering fails, and the client gets JSON without a reason", async () => {
  const cause = new Error("SELECT secret");
  const { post, pins, observations } = await setUp(() => Promise.reject(cause));
  const response = await post();
  expect(response.status).toBe(500);
  expect(await response.text()).toBe(
    '{"errors":[{"message":"Something went wrong on our side.","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}',
  );
  expect(pins).toEqual({ taken: 1, released: 1 });
  expect(observations).toEqual([{ kind: "internal-error", requestId: "r-1", traceId: expect.any(String), cause }]);
});

test("no generation is taken for a request that cannot be read", async () => {
  const { post, pins } = await setUp(() => Promise.reject(new Error("not asked")));
  expect((await post("{")).status).toBe(400);
  expect(pins.taken).toBe(0);
});

async function setUp(admit: Generation["admission"]["admit"]) {
  const pins = { taken: 0, released: 0 };
  const observations: Observation[] = [];
  const observe = (observation: Observation) => void observations.push(observation);
  const generations = createFakeGenerations(admit, pins);
  const about = { graphqlBodyBytesMax: 1_000, requestTimeoutMs: 1_000, exposesPlans: false, serverTiming: false };
  const pipeline = createPipeline({ ...about, observe });
  const write = createWriter({ responseTimeoutMs: 1_000, observe });
  const fullLane = createFullLane({ pipeline, generations, write, observe });
  const introduce = createIntroduction(createCors({ origins: [], allowedHeaders: [], exposedHeaders: [] }));
  const listening = createServer((request, response) => void fullLane(introduce(request, response)));
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/graphql`;
  const headers = { "content-type": "application/json", "x-request-id": "r-1" };
  const post = (body = '{"query":"{ a }"}') => fetch(url, { method: "POST", headers, body });
  return { post, pins, observations };
}

function createFakeGenerations(
  admit: Generation["admission"]["admit"],
  pins: { taken: number; released: number },
): Generations {
  const engine: Engine = {
    apiSchema: buildSchema("type Query { a: Int }"),
    execute: () => Promise.reject(new Refusal("OPERATION_TOO_COMPLEX")),
    explain: () => Promise.resolve(undefined),
    prepare: () => Promise.resolve(),
    conditionsOf: () => [],
    sizeOfIntrospection: () => ({ entries: 0, bytes: 0 }),
  };
  const generation: Generation = {
    apiSdl: "",
    subgraphs: [],
    engine,
    admission: { admit, isWatched: false, close: () => Promise.resolve() },
    operations: createOperations({ documentsMax: 1, bytesMax: 1 }),
    sizeOfPlans: () => ({ entries: 0, bytes: 0 }),
    listMostUsed: () => [],
    warm: () => Promise.resolve(),
    retire: () => {},
    close: () => Promise.resolve(),
  };
  return {
    current: generation,
    currentId: "g",
    pin: () => {
      pins.taken++;
      return { generation, release: () => void pins.released++ };
    },
    load: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
