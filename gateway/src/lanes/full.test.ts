import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Generation, Generations } from "../supergraph/generations.ts";
import type { Observation } from "../telemetry/observations.ts";
import { createFullLane } from "./full.ts";

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

test("a generation is let go with the answer", async () => {
  const { post, pins } = await setUp(() => Promise.resolve({ status: 200, headers: {}, body: "{}" }));
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
  expect(observations).toEqual([{ kind: "internal-error", requestId: "r-1", cause }]);
});

test("no generation is taken for a request that cannot be read", async () => {
  const { post, pins } = await setUp(() => Promise.reject(new Error("not asked")));
  expect((await post("{")).status).toBe(400);
  expect(pins.taken).toBe(0);
});

async function setUp(answer: Generation["lane"]["answer"]) {
  const pins = { taken: 0, released: 0 };
  const observations: Observation[] = [];
  const lane = { answer, close: () => Promise.resolve() };
  const generation: Generation = { apiSdl: "", subgraphs: [], lane, close: () => Promise.resolve() };
  const generations: Generations = {
    current: generation,
    pin: () => {
      pins.taken++;
      return { ...generation, release: () => pins.released++ };
    },
    load: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const observe = (observation: Observation) => void observations.push(observation);
  const fullLane = createFullLane({
    generations,
    bodyBytesMax: 1_000,
    requestTimeoutMs: 1_000,
    responseTimeoutMs: 1_000,
    observe,
  });
  const caller = { requestId: "r-1", trace: { traceId: "0af7651916cd43dd8448eb211c80319c", flags: "00" } };
  const listening = createServer((request, response) => void fullLane(request, response, caller));
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/graphql`;
  const post = (body = '{"query":"{ a }"}') =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return { post, pins, observations };
}
