import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Rejection } from "../src/errors/rejections.ts";
import type { SupergraphPlanner } from "../src/plan/planner/supergraph-planner.ts";
import { createPlannerPool, type PlannerPool, type PlannerPoolOptions } from "../src/plan/planner/planner-pool.ts";
import type { GatewayObservation } from "../src/observations.ts";
import type { ScriptedPlan } from "./helpers/scripted-planner.ts";

let pool: PlannerPool;
let observations: GatewayObservation[];

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

  test("that takes too long is rejected, its worker is replaced, and the new worker plans the queued ones", async () => {
    const { plan } = await setUp({ planTimeoutMs: 1_000 });
    const before = await plan("{ a }");
    const [hanging, queued] = await Promise.allSettled([plan("hang"), plan("{ b }")]);
    expect(reasonOf(hanging)).toMatchObject({ code: "OPERATION_TOO_COMPLEX", status: 400 });
    expect(queued).toMatchObject({ status: "fulfilled", value: { plannedBefore: 0, supergraphs: ["one"] } });
    expect((await plan("{ c }")).threadId).not.toBe(before.threadId);
    expect(observations).toContainEqual(expect.objectContaining({ kind: "planner-replaced", reason: "deadline" }));
  });

  test("that took too long is rejected at once the next time", async () => {
    const { plan } = await setUp({ planTimeoutMs: 1_000 });
    await expect(plan("hang")).rejects.toThrow(Rejection);
    const { threadId } = await plan("{ a }");
    await expect(plan("hang")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
    expect((await plan("{ b }")).threadId).toBe(threadId);
    expect(kinds().filter((kind) => kind === "planner-replaced")).toHaveLength(1);
  });

  test("that was planned in time is accepted although the main thread was blocked", async () => {
    const { plan } = await setUp({ planTimeoutMs: 100 });
    // From here the event loop runs its timers before it reads messages.
    await new Promise((resolve) => setImmediate(resolve));
    const planned = plan("{ a }");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
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
    const { plan } = await setUp({ planTimeoutMs: 1_000, queuedJobsMax: 1 });
    const hanging = plan("hang");
    const queued = plan("{ a }");
    await expect(plan("{ b }")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      status: 503,
      headers: { "Retry-After": "1" },
    });
    await expect(hanging).rejects.toThrow(Rejection);
    expect(await queued).toMatchObject({ operationText: "{ a }" });
    expect(await plan("{ b }")).toMatchObject({ operationText: "{ b }" });
  });

  test("are planned by length, then in order of arrival", async () => {
    const { plan } = await setUp();
    const order: string[] = [];
    const operations = ["{ first }", "{ long long }", "{ a }", "{ b }"];
    await Promise.all(operations.map((operation) => plan(operation).then(() => order.push(operation))));
    expect(order).toEqual(["{ first }", "{ a }", "{ b }", "{ long long }"]);
  });

  test("wait for a limited time", async () => {
    const { plan } = await setUp({ planTimeoutMs: 100, waitMsMax: 150 });
    const hanging = [plan("hang 1"), plan("hang 2")];
    const queued = plan("{ a }");
    await expect(Promise.all(hanging)).rejects.toThrow(Rejection);
    await expect(queued).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await Promise.allSettled(hanging);
  });

  test("are distributed among workers, each of which has every supergraph", async () => {
    const { plan } = await setUp({ workers: 2, planTimeoutMs: 1_000 });
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
    await expect(pool.load("invalid")).rejects.toThrow("The supergraph is invalid");
    expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
  });

  test.each([
    ["hang", "more than 500 ms"],
    ["throw", "thrown in the worker"],
  ])("that makes the worker end (%s) is rejected, and the others are loaded again", async (sdl, message) => {
    const { plan } = await setUp({ loadTimeoutMs: 500 });
    await expect(pool.load(sdl)).rejects.toThrow(message);
    expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
  });

  test("is loaded again after a worker died", async () => {
    const { plan } = await setUp();
    const sdl = `once ${join(mkdtempSync(join(tmpdir(), "planner-")), "died")}`;
    const second = await pool.load(sdl);
    expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["one", sdl] });
    expect(await plan("{ b }")).toMatchObject({ plannedBefore: 1 });
  });

  test("is dropped when it is released, by new workers too", async () => {
    const { loaded } = await setUp({ planTimeoutMs: 1_000 });
    const second = await pool.load("two");
    loaded.release();
    expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["two"] });
    await expect(second.plan("hang")).rejects.toThrow(Rejection);
    expect(await planWith(second, "{ a }")).toMatchObject({ supergraphs: ["two"] });
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
  return { loaded, plan: (operationText: string) => planWith(loaded, operationText) };
}

async function planWith(loaded: SupergraphPlanner, operationText: string): Promise<ScriptedPlan> {
  return JSON.parse(await loaded.plan(operationText)) as ScriptedPlan;
}

function kinds(): string[] {
  return observations.map(({ kind }) => kind);
}

function reasonOf(settled: PromiseSettledResult<unknown>): unknown {
  return settled.status === "rejected" ? settled.reason : undefined;
}
