import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DocumentCpu } from "../src/document-cpu.ts";
import { Rejection } from "../src/errors/rejections.ts";
import { UnusableSupergraph } from "../src/errors/unusable-supergraph.ts";
import type { GatewayObservation } from "../src/observations.ts";
import {
  type PlannerPool,
  type PlannerPoolOptions,
  createPlannerPool,
} from "../src/engine/plan/planner/planner-pool.ts";
import type { SupergraphPlanner } from "../src/engine/plan/planner/supergraph-planner.ts";
import { createTaskRunner } from "../src/engine/plan/planner/task-runner.ts";
import { listWarmUpOperations } from "../src/engine/plan/planner/warm-up-operation.ts";
import type { LibraryLogEntry, TaskResult } from "../src/engine/plan/planner/worker-messages.ts";
import type { ScriptedPlan } from "./helpers/scripted-planner.ts";

describe("the planner pool", () => {
  let pool: PlannerPool;
  let observations: GatewayObservation[];
  const running = new Set<Worker>();
  let startedCount = 0;
  const addWorker = (message: unknown) => {
    const { worker } = message as { readonly worker: Worker };
    startedCount++;
    running.add(worker);
    worker.once("exit", () => running.delete(worker));
  };

  beforeAll(() => subscribe("worker_threads", addWorker));
  afterAll(() => unsubscribe("worker_threads", addWorker));
  afterEach(() => pool.close());

  describe("an operation", () => {
    test("is planned once for concurrent requests", async () => {
      const { plan } = await setUp();
      const [first, second, other] = await Promise.all([plan("{ a }"), plan("{ a }"), plan("{ b }")]);
      expect(second).toEqual(first);
      expect([first, other].map(({ plannedBefore }) => plannedBefore)).toEqual([0, 1]);
      expect((await plan("{ a }")).plannedBefore).toBe(2);
      expect(kinds()).toEqual(["plan-built", "plan-built", "plan-built"]);
    });

    test("has the CPU time of its plan, once for concurrent requests, and also if it is too complex", async () => {
      const { plan, cpu } = await setUp({ planTimeoutMs: 300 });
      await Promise.all([plan("{ a }"), plan("{ a }")]);
      expect(cpu.documentCpuMs).toBe(1);
      await expect(plan("complex")).rejects.toThrow(Rejection);
      expect(cpu.documentCpuMs).toBe(2);
      await expect(plan("hang")).rejects.toThrow(Rejection);
      const { documentCpuMs } = cpu;
      // Node's timers can be a millisecond early.
      expect(documentCpuMs).toBeGreaterThan(300);
      expect(documentCpuMs).toBeLessThanOrEqual(302);
      // Rejected without being planned.
      await expect(plan("hang")).rejects.toThrow(Rejection);
      expect(cpu.documentCpuMs).toBe(documentCpuMs);
    });

    test("that takes too long is rejected, its worker is replaced, and the new worker plans the queued ones", async () => {
      const { plan } = await setUp({ planTimeoutMs: 300 });
      const before = await plan("{ a }");
      const [hanging, queued] = await Promise.allSettled([plan("hang"), plan("{ b }")]);
      expect(reasonOf(hanging)).toMatchObject({ code: "OPERATION_TOO_COMPLEX", statuses: { graphql: 400 } });
      expect(queued).toMatchObject({ status: "fulfilled", value: { plannedBefore: 0, supergraphs: ["one"] } });
      expect((await plan("{ c }")).threadId).not.toBe(before.threadId);
      expect(observations).toContainEqual(expect.objectContaining({ kind: "planner-replaced", reason: "deadline" }));
    });

    test("that waits long for a core is planned: only its CPU time counts", async () => {
      const { plan } = await setUp({ planTimeoutMs: 1_000 });
      expect(await plan("wait 1500")).toMatchObject({ operationText: "wait 1500" });
    });

    test("is not blamed if its worker gets no core at all: the worker is replaced, and the next request plans it", async () => {
      const { plan } = await setUp({ planTimeoutMs: 50 });
      await expect(plan("wait 3600000")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      await expect(plan("wait 3600000")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      const { kind, reason } = { kind: "planner-replaced", reason: "stalled" };
      expect(observations.filter((each) => each.kind === kind)).toMatchObject([{ reason }, { reason }]);
    });

    test("that took too long is rejected at once the next time", async () => {
      const { plan } = await setUp({ planTimeoutMs: 300 });
      await expect(plan("hang")).rejects.toThrow(Rejection);
      const { threadId } = await plan("{ a }");
      await expect(plan("hang")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
      expect((await plan("{ b }")).threadId).toBe(threadId);
      expect(kinds().filter((kind) => kind === "planner-replaced")).toHaveLength(1);
    });

    test("that was planned in time is accepted although the main thread was blocked", async () => {
      const { plan } = await setUp({ planTimeoutMs: 500 });
      // From here the event loop runs its timers before it reads messages.
      await new Promise((resolve) => setImmediate(resolve));
      const planned = plan("{ a }");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_250);
      expect(await planned).toMatchObject({ operationText: "{ a }" });
    });

    test("that fills the worker's memory is rejected", async () => {
      const { plan } = await setUp({ planTimeoutMs: 60_000, workerHeapMbMax: 20 });
      await expect(plan("fill")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
      expect(observations).toContainEqual(expect.objectContaining({ kind: "plan-failed", reason: "memory" }));
      expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
    });

    test("that is too complex for the query planner is rejected, and not planned again", async () => {
      const { plan } = await setUp();
      await expect(plan("complex")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
      await expect(plan("complex")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
      expect(kinds()).toEqual(["plan-failed"]);
    });

    test("that meets a bug in the query planner fails with the error of the worker", async () => {
      const { plan } = await setUp();
      const failed = plan("bug");
      await expect(failed).rejects.toThrow("a bug");
      await expect(failed).rejects.not.toThrow(Rejection);
      await expect(failed).rejects.toMatchObject({ stack: expect.stringContaining("at the worker") });
    });

    test("is planned again after its worker died", async () => {
      const { plan } = await setUp();
      const file = join(mkdtempSync(join(tmpdir(), "planner-")), "died");
      expect(await plan(`once ${file}`)).toMatchObject({ plannedBefore: 0, supergraphs: ["one"] });
    });

    test.each(["exit", "throw"])("that kills its worker twice (%s) fails as a bug", async (how) => {
      const { plan } = await setUp();
      const failed = plan(how);
      await expect(failed).rejects.toThrow("The planner worker died");
      await expect(failed).rejects.not.toThrow(Rejection);
      expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
      expect(kinds().filter((kind) => kind === "planner-replaced")).toHaveLength(2);
    });
  });

  describe("queued operations", () => {
    test("are limited in number", async () => {
      const { plan } = await setUp({ planTimeoutMs: 300, queuedJobsMax: 1 });
      await plan("{ a }");
      const hanging = plan("hang");
      const queued = plan("{ a }");
      await expect(plan("{ b }")).rejects.toMatchObject({
        code: "SERVICE_UNAVAILABLE",
        statuses: { graphql: 503 },
        headers: { "Retry-After": "1" },
      });
      await expect(hanging).rejects.toThrow(Rejection);
      expect(await queued).toMatchObject({ operationText: "{ a }" });
      expect(await plan("{ b }")).toMatchObject({ operationText: "{ b }" });
    });

    test("are planned by length, then in order of arrival", async () => {
      const { plan } = await setUp();
      await plan("{ a }");
      const order: string[] = [];
      const operations = ["{ first }", "{ long long }", "{ a }", "{ b }"];
      await Promise.all(operations.map((operation) => plan(operation).then(() => order.push(operation))));
      expect(order).toEqual(["{ first }", "{ a }", "{ b }", "{ long long }"]);
    });

    test("wait for a limited time", async () => {
      const { plan } = await setUp({ planTimeoutMs: 100, waitMsMax: 150 });
      const hanging = [plan("hang 1"), plan("hang 2")];
      // Longer than "hang 2", so it is not planned before it.
      const queued = plan("{ longer }");
      await expect(Promise.all(hanging)).rejects.toThrow(Rejection);
      await expect(queued).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      await Promise.allSettled(hanging);
    });

    test("are distributed among workers, each of which has every supergraph", async () => {
      const { plan } = await setUp({ workers: 2, planTimeoutMs: 300 });
      await pool.load("two");
      const [hanging, other] = await Promise.allSettled([plan("hang"), plan("{ a }")]);
      expect(reasonOf(hanging)).toBeInstanceOf(Rejection);
      expect(other).toMatchObject({ value: { supergraphs: ["one", "two"] } });
    });
  });

  describe("a supergraph", () => {
    test("is described when it is loaded", async () => {
      const { loaded } = await setUp();
      expect(loaded).toMatchObject({ apiSdl: "api of one", aliasPrefix: "a_" });
    });

    test("that is invalid is rejected, and the others remain", async () => {
      const { plan } = await setUp();
      await expect(pool.load("invalid")).rejects.toThrow(new UnusableSupergraph("The supergraph is invalid"));
      expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
    });

    test.each([
      ["hang", "more than 500 ms", true],
      ["throw", "thrown in the worker", false],
      ["wait 3600000", "too little CPU time", false],
    ])(
      "that makes the worker end (%s) is rejected, and the others are loaded again",
      async (sdl, message, isBlamed) => {
        const { plan } = await setUp({ loadTimeoutMs: 500 });
        const failure = await pool.load(sdl).catch((error: unknown) => error);
        expect(failure).toMatchObject({ message: expect.stringContaining(message) });
        expect(failure instanceof UnusableSupergraph).toBe(isBlamed);
        expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
      },
    );

    test("is loaded although its worker waits long for a core", async () => {
      await setUp({ loadTimeoutMs: 1_000 });
      expect(await pool.load("wait 1500")).toMatchObject({ apiSdl: "api of wait 1500" });
    });

    test("is loaded again after a worker died", async () => {
      const { plan } = await setUp();
      const sdl = `once ${join(mkdtempSync(join(tmpdir(), "planner-")), "died")}`;
      const second = await pool.load(sdl);
      expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["one", sdl] });
      expect(await plan("{ b }")).toMatchObject({ plannedBefore: 1 });
    });

    test("is dropped when it is released, by new workers too", async () => {
      const { loaded } = await setUp({ planTimeoutMs: 300 });
      const second = await pool.load("two");
      loaded.release();
      expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["two"] });
      await expect(second.plan("hang", [])).rejects.toThrow(Rejection);
      expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["two"] });
    });
  });

  describe("a worker's planner", () => {
    test("is warmed by a task of its own before it plans the first operation", async () => {
      const { plan } = await setUp();
      expect(await plan("{ a }")).toMatchObject({ warmed: ["one"], plannedBefore: 0 });
    });

    test("is warmed again in the worker that replaces a lost or an ended one", async () => {
      const { plan } = await setUp({ planTimeoutMs: 300, idleMsMax: 2_000 });
      await pool.load("two");
      const hanging = plan("hang");
      const queued = plan("{ a }");
      await expect(hanging).rejects.toThrow(Rejection);
      expect(await queued).toMatchObject({ warmed: ["one", "two"], plannedBefore: 0 });
      await untilAllEnded();
      expect(await plan("{ b }")).toMatchObject({ warmed: ["one", "two"], plannedBefore: 0 });
    });

    test("is not warmed again if that ended the worker", async () => {
      await setUp();
      const second = await pool.load("cannot warm");
      expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["one", "cannot warm"], warmed: ["one"] });
      expect(kinds().filter((kind) => kind === "planner-replaced")).toHaveLength(1);
    });
  });

  describe("an idle worker", () => {
    test("is ended, and the next operation gets one that has every supergraph", async () => {
      const { plan } = await setUp({ idleMsMax: 20 });
      await pool.load("two");
      const { threadId } = await plan("{ a }");
      await untilAllEnded();
      const next = await plan("{ b }");
      expect(next).toMatchObject({ supergraphs: ["one", "two"] });
      expect(next.threadId).not.toBe(threadId);
      expect(kinds()).not.toContain("planner-replaced");
    });

    test("may take longer to load a supergraph than an operation may wait for a running worker", async () => {
      const { loaded } = await setUp({ idleMsMax: 20, waitMsMax: 1_000 });
      const slow = await pool.load("wait 2000");
      loaded.release();
      await untilAllEnded();
      expect(await planWith(slow, "{ a }")).toMatchObject({ supergraphs: ["wait 2000"] });
    });

    test("is the only one that an operation starts", async () => {
      const { plan } = await setUp({ workers: 3, idleMsMax: 20 });
      await untilAllEnded();
      const countBefore = startedCount;
      await plan("{ a }");
      expect(startedCount - countBefore).toBe(1);
      await untilAllEnded();
      await Promise.all([plan("{ b }"), plan("{ c }")]);
      expect(startedCount - countBefore).toBe(3);
    });

    test("loses no operation that is sent while it ends", async () => {
      const { plan } = await setUp({ idleMsMax: 1 });
      const threads = new Set<number>();
      for (let count = 0; count < 20 || threads.size < 3; count++) {
        await sleep(count % 3);
        threads.add((await plan(`{ a${count} }`)).threadId);
      }
      expect(kinds().filter((kind) => kind !== "plan-built")).toEqual([]);
    });

    test("is started by a new supergraph, but not to drop one", async () => {
      const { loaded } = await setUp({ idleMsMax: 20 });
      await untilAllEnded();
      const second = await pool.load("two");
      expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["one", "two"] });
      await untilAllEnded();
      loaded.release();
      expect(running.size).toBe(0);
      expect(await planWith(second, "{ b }")).toMatchObject({ supergraphs: ["two"] });
    });

    test("is started for an operation that takes too long, which is rejected", async () => {
      const { plan } = await setUp({ idleMsMax: 20, planTimeoutMs: 300 });
      await untilAllEnded();
      await expect(plan("hang")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
      expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
    });
  });

  test("closing the pool fails running and queued tasks", async () => {
    const { plan } = await setUp({ planTimeoutMs: 60_000 });
    const all = [plan("hang"), plan("{ a }")];
    await Promise.all([pool.close(), expect(all[0]).rejects.toThrow(), expect(all[1]).rejects.toThrow()]);
    await expect(plan("{ b }")).rejects.toThrow();
    await expect(pool.load("two")).rejects.toThrow();
  });

  async function setUp(o: Partial<PlannerPoolOptions> = {}) {
    observations = [];
    const workerFile = new URL("helpers/scripted-planner.ts", import.meta.url);
    const observe = (observation: GatewayObservation) => {
      // Reported for every task that a worker takes.
      if (observation.kind !== "plan-started") observations.push(observation);
    };
    pool = createPlannerPool({ workers: 1, planTimeoutMs: 5_000, waitMsMax: 60_000, observe, workerFile, ...o });
    const loaded = await pool.load("one");
    const cpu = { documentCpuMs: 0 };
    return { loaded, cpu, plan: (operationText: string) => planWith(loaded, operationText, cpu) };
  }

  async function untilAllEnded(): Promise<void> {
    await expect.poll(() => running.size).toBe(0);
  }

  async function planWith(loaded: SupergraphPlanner, operationText: string, cpu?: DocumentCpu): Promise<ScriptedPlan> {
    return JSON.parse(await loaded.plan(operationText, [], cpu)) as ScriptedPlan;
  }

  function kinds(): string[] {
    return observations.map(({ kind }) => kind);
  }

  function reasonOf(settled: PromiseSettledResult<unknown>): unknown {
    return settled.status === "rejected" ? settled.reason : undefined;
  }
});

describe("tasks of a worker", () => {
  process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

  const supergraphSdl = compose();

  test("a supergraph is loaded, planned for and dropped", async () => {
    const { run } = setUp();
    expect(await run({ kind: "start" })).toEqual({ kind: "done" });
    const loaded = await run({ kind: "load", id: 1, supergraphSdl, isKnown: false });
    expect(loaded).toMatchObject({ kind: "loaded", apiSdl: expect.stringContaining("type Book") });
    const planned = await run({ kind: "plan", id: 1, operationText: "{ books { title stars } }", enabledLabels: [] });
    expect(servicesOf(planned)).toEqual(["books", "ratings"]);
    expect(await run({ kind: "warm", id: 1 })).toEqual({ kind: "done" });
    expect(await run({ kind: "drop", id: 1 })).toEqual({ kind: "done" });
    expect(await run({ kind: "plan", id: 1, operationText: "{ books { title } }", enabledLabels: [] })).toMatchObject({
      kind: "failed",
      message: "Supergraph 1 is not loaded in this worker",
    });
  });

  test.each([
    ["is truncated", (sdl: string) => sdl.slice(0, sdl.length / 2)],
    ["is a plain schema", () => "type Query { a: Int }"],
    ["joins a missing subgraph", (sdl: string) => sdl.replace("@join__type(graph: BOOKS", "@join__type(graph: B")],
    [
      "links an unknown SECURITY feature",
      (sdl: string) =>
        sdl.replace("schema\n", 'schema\n  @link(url: "https://example.com/guard/v1.0", for: SECURITY)\n'),
    ],
    ["misplaces a directive", withMisplacedDirective],
    ["misplaces a directive, and has contexts", (sdl: string) => linkContexts(withMisplacedDirective(sdl))],
  ])("a supergraph that %s fails with a reason", async (_, spoil) => {
    const { run } = setUp();
    const failed = await run({ kind: "load", id: 1, supergraphSdl: spoil(supergraphSdl), isKnown: false });
    expect(failed).toMatchObject({ kind: "failed", message: expect.stringMatching(/\w/) });
  });

  test("a supergraph with @authenticated is rejected, and one with @cacheTag is loaded", async () => {
    const { run } = setUp();
    const link = (feature: string, purpose: string) =>
      supergraphSdl.replace(
        "schema\n",
        `schema\n  @link(url: "https://specs.apollo.dev/${feature}", for: ${purpose})\n`,
      );
    const guarded = await run({
      kind: "load",
      id: 1,
      supergraphSdl: link("authenticated/v0.1", "SECURITY"),
      isKnown: false,
    });
    expect(guarded).toMatchObject({
      message: expect.stringContaining("does not enforce @authenticated"),
    });
    const tagged = await run({
      kind: "load",
      id: 2,
      supergraphSdl: link("cacheTag/v0.1", "EXECUTION"),
      isKnown: false,
    });
    expect(tagged.kind).toBe("loaded");
  });

  test("an operation that overflows the stack is too complex", async () => {
    const { run } = setUp();
    await run({ kind: "load", id: 1, supergraphSdl, isKnown: false });
    const depth = 100_000;
    const operationText = `{ books { title ${"... on Book { title ".repeat(depth)}${"}".repeat(depth)} } }`;
    expect(await run({ kind: "plan", id: 1, operationText, enabledLabels: [] })).toMatchObject({
      kind: "too-complex",
    });
  });

  test("Apollo Gateway validates a new supergraph, and its log entries are forwarded", async () => {
    const { run, entries } = setUp();
    await run({ kind: "load", id: 1, supergraphSdl, isKnown: true });
    expect(entries).toEqual([]);
    await run({ kind: "load", id: 2, supergraphSdl, isKnown: false });
    expect(entries).toContainEqual({ kind: "library-log", level: "debug", text: "Loading gateway..." });
  });

  function withMisplacedDirective(sdl: string): string {
    return sdl.replace("repeatable on OBJECT | INTERFACE | UNION", "repeatable on UNION");
  }

  function linkContexts(sdl: string): string {
    return sdl.replace("schema\n", 'schema\n  @link(url: "https://specs.apollo.dev/context/v0.1")\n');
  }

  function setUp() {
    const entries: LibraryLogEntry[] = [];
    return { ...createTaskRunner({ log: (entry) => void entries.push(entry) }), entries };
  }

  function servicesOf(result: TaskResult): unknown[] {
    if (result.kind !== "planned") throw new Error(JSON.stringify(result));
    return [...result.planJson.matchAll(/"serviceName":"(\w+)"/g)].map(([, name]) => name);
  }

  function compose(): string {
    const header = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])\n';
    const subgraphs = {
      books: 'type Query { books: [Book] } type Book @key(fields: "isbn") { isbn: ID! title: String }',
      ratings: 'type Book @key(fields: "isbn") { isbn: ID! stars: Int }',
    };
    const services = Object.entries(subgraphs).map(([name, defs]) => ({ name, typeDefs: parse(header + defs) }));
    const { supergraphSdl: sdl, errors } = composeServices(services);
    if (sdl === undefined) throw new AggregateError(errors ?? [], "The test's subgraphs do not compose");
    return sdl;
  }
});

describe("the warm-up operations", () => {
  test("the warm-up operations have one root field each, and select fields of several types without arguments", () => {
    const operations = listWarmUpOperations(`
    type Query { byId(id: ID!): Post posts(first: Int = 3): [Post!]! count: Int any: Any }
    type Post { id: ID! title: String body(format: Format!): String author: Person }
    type Person { id: ID! posts: [Post] }
    union Any = Post | Person
    enum Format { PLAIN }
  `);
    expect(operations).toEqual(["{ count }", "{ posts { id title author { id } } }", "{ any { __typename } }"]);
  });

  test("there is no warm-up operation if every root field requires an argument", () => {
    expect(listWarmUpOperations("type Query { byId(id: ID!): ID }")).toEqual([]);
  });

  test("a type whose fields all require arguments is omitted", () => {
    expect(listWarmUpOperations("type Query { a: A b: Int } type A { byId(id: ID!): ID }")).toEqual(["{ b }"]);
  });
});
