import { createCompression } from "@tributary/kit/http/compression";
import { createIncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import { createReceipts } from "@tributary/kit/consistency/receipts";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdmission } from "@tributary/kit/admission/admission";
import { createHeldRejections } from "@tributary/kit/admission/held-rejections";
import { createCallers } from "@tributary/kit/caller/caller";
import { defaultJsonLimits } from "@tributary/kit/http/json-body";
import { buildSchema, parse } from "graphql";
import { afterEach, describe, expect, test } from "vitest";
import type { Charges } from "../../admit/charges.ts";
import { createOperationAdmission } from "../../admit/operation-admission.ts";
import { createTestSettings } from "../../settings/testing/test-settings.ts";
import { createExchangeFactory } from "../../admit/exchange.ts";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import { Rejection } from "../../errors/rejections.ts";
import { UnusableSupergraph } from "../../errors/unusable-supergraph.ts";
import type { GatewayObservation } from "../../observations.ts";
import { createPersistedQueries } from "../parse/persisted-queries.ts";
import { createOperationStore } from "../parse/operation-store.ts";
import { createEventLoopQueue } from "../parse/event-loop-queue.ts";
import { createFullPath } from "../../paths/full.ts";
import { createResponseSender } from "../../paths/send-response.ts";
import { createPipeline } from "../../pipeline.ts";
import { createDocumentPreparation } from "./document-preparation.ts";
import type { SupergraphStages } from "./supergraph-stages.ts";
import { type Generation, type Generations, type UsedOperation, createGenerations } from "./generations.ts";

describe("generations", () => {
  test("a pinned generation is closed with the end of its last request", async () => {
    const { generations, closed, retired } = setUp();
    await generations.load("one");
    const first = generations.pin();
    const second = generations.pin();
    await generations.load("two");
    expect(generations.current?.apiSdl).toBe("two");
    expect(first?.generation.apiSdl).toBe("one");
    first?.release();
    first?.release();
    expect(closed).toEqual([]);
    // Its caches are cleared at once.
    expect(retired).toEqual(["one"]);
    second?.release();
    expect(closed).toEqual(["one"]);
  });

  test("an unused generation is closed when the next one replaces it", async () => {
    const { generations, closed } = setUp();
    for (const sdl of ["one", "two", "three"]) {
      await generations.load(sdl);
      generations.pin()?.release();
    }
    expect(closed).toEqual(["one", "two"]);
    await generations.close();
    expect(closed).toEqual(["one", "two", "three"]);
    expect(generations.pin()).toBeUndefined();
  });

  test("a supergraph that cannot be used is reported and changes nothing", async () => {
    const { generations, closed, observations } = setUp();
    await generations.load("one");
    await generations.load("broken");
    expect(generations.current?.apiSdl).toBe("one");
    expect(closed).toEqual([]);
    expect(observations.map(({ kind }) => kind)).toEqual(["supergraph-loaded", "supergraph-rejected"]);
  });

  test("a load that failed for another reason than the supergraph is reported as one to repeat", async () => {
    const { generations, observations } = setUp();
    const outcomes = [
      await generations.load("unlucky"),
      await generations.load("broken"),
      await generations.load("one"),
    ];
    expect(outcomes.map(({ kind }) => kind)).toEqual(["retry", "rejected", "loaded"]);
    expect(observations.map(({ kind }) => kind)).toEqual([
      "supergraph-load-failed",
      "supergraph-rejected",
      "supergraph-loaded",
    ]);
  });

  test("a generation that cannot be closed is reported, and the next one is served", async () => {
    const { generations, observations } = setUp();
    await generations.load("stuck");
    await generations.load("two");
    await Promise.resolve();
    expect(generations.current?.apiSdl).toBe("two");
    expect(observations.map(({ kind }) => kind)).toContain("internal-error");
  });

  test("a generation with an endless request is closed after the grace period, once", async () => {
    const { generations, closed, closedOne } = setUp({ graceMs: 5 });
    await generations.load("one");
    const pinned = generations.pin();
    await generations.load("two");
    expect(closed).toEqual([]);
    await closedOne;
    pinned?.release();
    expect(closed).toEqual(["one"]);
  });

  test("the next generation is not built while too many retired ones are in use", async () => {
    const { generations, closed } = setUp();
    const pins = [];
    for (const sdl of ["1", "2", "3", "4"]) {
      await generations.load(sdl);
      pins.push(generations.pin());
    }
    await generations.load("5");
    const waiting = generations.load("6");
    await new Promise((resolve) => setImmediate(resolve));
    expect(generations.current?.apiSdl).toBe("5");
    pins[2]?.release();
    await waiting;
    expect(generations.current?.apiSdl).toBe("6");
    expect(closed).toEqual(["3", "5"]);
  });

  test("the next generation is warmed with the most used operations before it serves requests", async () => {
    const { generations, warmed } = setUp({ used: [used] });
    await generations.load("one");
    expect(warmed).toEqual([]);
    const loading = generations.load("two");
    await new Promise((resolve) => setImmediate(resolve));
    expect(generations.current?.apiSdl).toBe("one");
    expect(warmed).toMatchObject([{ apiSdl: "two", operations: [used] }]);
    expect(warmed[0]?.signal.aborted).toBe(false);
    warmed[0]?.finish();
    await loading;
    expect(generations.current?.apiSdl).toBe("two");
  });

  test("warming stops after the time limit", async () => {
    const { generations, warmed } = setUp({ warmMsMax: 5, used: [used] });
    await generations.load("one");
    await generations.load("two");
    expect(generations.current?.apiSdl).toBe("two");
    expect(warmed[0]?.signal.aborted).toBe(true);
  });

  test("a failure of warming is reported, and the next generation is served", async () => {
    const { generations, warmed, observations } = setUp({ used: [used] });
    await generations.load("one");
    const loading = generations.load("two");
    await new Promise((resolve) => setImmediate(resolve));
    warmed[0]?.finish(new Error("cold"));
    await loading;
    expect(generations.current?.apiSdl).toBe("two");
    expect(observations.map(({ kind }) => kind)).toEqual(["supergraph-loaded", "internal-error", "supergraph-loaded"]);
  });

  test("a generation that is built after the close is closed, and nothing is reported", async () => {
    const { generations, closed, observations } = setUp();
    const loading = [generations.load("one"), generations.load("broken")];
    await generations.close();
    await Promise.all(loading);
    expect(closed).toEqual(["one"]);
    expect(observations).toEqual([]);
  });

  /** No request is sent to these generations. */
  const unused = {} as Pick<Generation, "stages" | "validation" | "operations" | "documents">;

  interface Warming {
    readonly apiSdl: string;
    readonly operations: readonly UsedOperation[];
    readonly signal: AbortSignal;
    finish(error?: Error): void;
  }

  /** The most used operation of the generation "one". */
  const used: UsedOperation = { source: "{ one }", operationName: undefined, conditions: [{}] };

  function setUp(o: { graceMs?: number; warmMsMax?: number; used?: readonly UsedOperation[] } = {}) {
    const closed: string[] = [];
    const retired: string[] = [];
    const warmed: Warming[] = [];
    const observations: GatewayObservation[] = [];
    const { promise: closedOne, resolve: onClosed } = Promise.withResolvers<void>();
    const build = (apiSdl: string): Promise<Generation> => {
      if (apiSdl === "broken") return Promise.reject(new UnusableSupergraph("broken"));
      if (apiSdl === "unlucky") return Promise.reject(new Error("unlucky"));
      return Promise.resolve({
        apiSdl,
        supergraph: parse("type Query { a: Int }"),
        subgraphs: [],
        connect: () => new Map(),
        ...unused,
        sizeOfPlans: () => ({ entries: 0, weight: 0 }),
        listMostUsed: () => (apiSdl === "one" ? (o.used ?? []) : []),
        warm: (operations, signal) =>
          new Promise((resolve, reject) => {
            const finish = (error?: Error) => (error ? reject(error) : resolve());
            warmed.push({ apiSdl, operations, signal, finish });
          }),
        activate: () => {},
        retire: () => void retired.push(apiSdl),
        async close() {
          if (apiSdl === "stuck") throw new Error("stuck");
          closed.push(apiSdl);
          onClosed();
        },
      });
    };
    const observe = (observation: GatewayObservation) => void observations.push(observation);
    const generations = createGenerations({ build, observe, graceMs: 60_000, ...o });
    return { generations, closed, retired, closedOne, warmed, observations };
  }
});

describe("the generation of a request", () => {
  const syntaxError = { message: "Syntax Error", extensions: { code: "GRAPHQL_PARSE_FAILED" } };
  let server: Server | undefined;

  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  test("a generation is released with the response", async () => {
    const { post, pins } = await setUp(() => Promise.resolve(new InvalidOperation([syntaxError])));
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
    const callers = createCallers({ trustedProxies: [], tokens: undefined, clientKeys: [] });
    const charges: Charges = {
      shareKeyOf: () => undefined,
      chargeVerification: () => undefined,
      chargeArrival: () => undefined,
      chargeOperation: () => undefined,
      debitDocument: () => undefined,
      debitResult: () => undefined,
    };
    const send = createResponseSender({ compression: createCompression(), responseTimeoutMs: 1_000, observe });
    const pipeline = createPipeline({
      requestTimeoutMs: 1_000,
      measuresStages: false,
      isDevelopment: false,
      tagHeader: undefined,
      receipts: createReceipts(["a key for tests only"]),
      admission: createOperationAdmission(createAdmission({ isOn: false })),
      heldRejections: createHeldRejections(),
      charges,
      nextIteration: createEventLoopQueue(),
      send,
      observe,
    });
    const fullPath = createFullPath({
      pipeline,
      receiving: {
        callers,
        charges,
        incompleteRequests: createIncompleteRequests({ addressKeyOf: callers.addressKeyOf, observe }),
        nextIteration: createEventLoopQueue(),
        graphqlBodyBytesMax: 1_000,
        jsonLimits: defaultJsonLimits,
        documentCharactersMax: 1_000,
      },
      generations,
      persistedQueries: createPersistedQueries({ shared: undefined, onEvicted: () => {} }),
      send,
      observe,
    });
    const createExchange = createExchangeFactory(() => createTestSettings());
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
      prepare: () => Promise.resolve(),
      planAhead: () => Promise.resolve(new Map()),
      addPlans: () => {},
      conditionsOf: () => [],
      sizeOfIntrospection: () => ({ entries: 0, weight: 0 }),
    };
    const generation: Generation = {
      apiSdl: "",
      supergraph: parse("type Query { a: Int }"),
      subgraphs: [],
      connect: () => new Map(),
      stages,
      validation: { validate, close: () => Promise.resolve() },
      operations: createOperationStore({ apiSchema: stages.apiSchema, documentsMax: 1, bytesMax: 1 }),
      documents: createDocumentPreparation({
        operations: createOperationStore({ apiSchema: stages.apiSchema, bytesMax: 100_000 }),
        validation: { validate, close: () => Promise.resolve() },
        stages,
        observe: () => {},
      }),
      sizeOfPlans: () => ({ entries: 0, weight: 0 }),
      listMostUsed: () => [],
      warm: () => Promise.resolve(),
      activate: () => {},
      retire: () => {},
      close: () => Promise.resolve(),
    };
    return {
      current: generation,
      currentId: "g",
      loadedAtMs: 0,
      pin: () => {
        pins.pinned++;
        return { generation, release: () => void pins.released++ };
      },
      load: () => Promise.resolve({ kind: "loaded" }),
      close: () => Promise.resolve(),
    };
  }
});
