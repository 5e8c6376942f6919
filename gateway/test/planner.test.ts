import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Refusal } from "../src/errors/codes.ts";
import type { LoadedPlanner } from "../src/plan/planner/loaded-planner.ts";
import { createPlanner, type Planner, type PlannerOptions } from "../src/plan/planner/planner.ts";
import type { Observation } from "../src/telemetry/observation-log.ts";
import type { Told } from "./helpers/scripted-planner.ts";

let planner: Planner;
let observations: Observation[];

afterEach(() => planner.close());

describe("an operation", () => {
  test("is planned once for all who ask for it at the same time", async () => {
    const { plan } = await setUp();
    const [first, second, other] = await Promise.all([plan("{ a }"), plan("{ a }"), plan("{ b }")]);
    expect(second).toEqual(first);
    expect([first, other].map(({ plannedBefore }) => plannedBefore)).toEqual([0, 1]);
    expect((await plan("{ a }")).plannedBefore).toBe(2);
    expect(kinds()).toEqual(["plan-built", "plan-built", "plan-built"]);
  });

  test("that takes too long is refused, and its thread replaced; what waits is planned in the new one", async () => {
    const { plan } = await setUp({ planTimeoutMs: 1_000 });
    const before = await plan("{ a }");
    const [hanging, waiting] = await Promise.allSettled([plan("hang"), plan("{ b }")]);
    expect(reasonOf(hanging)).toMatchObject({ code: "OPERATION_TOO_COMPLEX", status: 400 });
    expect(waiting).toMatchObject({ status: "fulfilled", value: { plannedBefore: 0, supergraphs: ["one"] } });
    expect((await plan("{ c }")).threadId).not.toBe(before.threadId);
    expect(observations).toContainEqual(expect.objectContaining({ kind: "planner-replaced", reason: "deadline" }));
  });

  test("that took too long once is refused at once", async () => {
    const { plan } = await setUp({ planTimeoutMs: 1_000 });
    await expect(plan("hang")).rejects.toThrow(Refusal);
    const { threadId } = await plan("{ a }");
    await expect(plan("hang")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
    expect((await plan("{ b }")).threadId).toBe(threadId);
    expect(kinds().filter((kind) => kind === "planner-replaced")).toHaveLength(1);
  });

  test("that was planned in time is not refused because the main thread was late", async () => {
    const { plan } = await setUp({ planTimeoutMs: 100 });
    // From here the loop comes to its timers before it reads messages.
    await new Promise((resolve) => setImmediate(resolve));
    const planned = plan("{ a }");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(await planned).toMatchObject({ operationText: "{ a }" });
  });

  test("that fills the thread's memory is refused", async () => {
    const { plan } = await setUp({ planTimeoutMs: 60_000, threadHeapMbMax: 20 });
    await expect(plan("fill")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
    expect(observations).toContainEqual(expect.objectContaining({ kind: "plan-failed", reason: "memory" }));
    expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
  });

  test("that the planner finds too complex is refused, and not planned again", async () => {
    const { plan } = await setUp();
    await expect(plan("complex")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
    await expect(plan("complex")).rejects.toMatchObject({ code: "OPERATION_TOO_COMPLEX" });
    expect(kinds()).toEqual(["plan-failed"]);
  });

  test("that meets a bug of the planner's fails with what was thrown there", async () => {
    const { plan } = await setUp();
    const failed = plan("bug");
    await expect(failed).rejects.toThrow("a bug");
    await expect(failed).rejects.not.toThrow(Refusal);
    await expect(failed).rejects.toMatchObject({ stack: expect.stringContaining("at the thread") });
  });

  test("is planned again when its thread dies of something else", async () => {
    const { plan } = await setUp();
    const file = join(mkdtempSync(join(tmpdir(), "planner-")), "died");
    expect(await plan(`once ${file}`)).toMatchObject({ plannedBefore: 0, supergraphs: ["one"] });
  });

  test.each(["exit", "throw"])("that kills its thread twice (%s) fails as a bug does", async (how) => {
    const { plan } = await setUp();
    const failed = plan(how);
    await expect(failed).rejects.toThrow("The planner died");
    await expect(failed).rejects.not.toThrow(Refusal);
    expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
    expect(kinds().filter((kind) => kind === "planner-replaced")).toHaveLength(2);
  });
});

describe("operations that wait for a thread", () => {
  test("are no more than there is room for", async () => {
    const { plan } = await setUp({ planTimeoutMs: 1_000, waitingMax: 1 });
    const hanging = plan("hang");
    const waiting = plan("{ a }");
    await expect(plan("{ b }")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      status: 503,
      headers: { "Retry-After": "1" },
    });
    await expect(hanging).rejects.toThrow(Refusal);
    expect(await waiting).toMatchObject({ operationText: "{ a }" });
    expect(await plan("{ b }")).toMatchObject({ operationText: "{ b }" });
  });

  test("go by their length, because a long one takes longer, and then in the order they came", async () => {
    const { plan } = await setUp();
    const order: string[] = [];
    const operations = ["{ first }", "{ long long }", "{ a }", "{ b }"];
    await Promise.all(operations.map((operation) => plan(operation).then(() => order.push(operation))));
    expect(order).toEqual(["{ first }", "{ a }", "{ b }", "{ long long }"]);
  });

  test("do not wait for ever", async () => {
    const { plan } = await setUp({ planTimeoutMs: 100, waitMsMax: 150 });
    const hanging = [plan("hang 1"), plan("hang 2")];
    const waiting = plan("{ a }");
    await expect(Promise.all(hanging)).rejects.toThrow(Refusal);
    await expect(waiting).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await Promise.allSettled(hanging);
  });

  test("are shared out among several threads, each of which knows every supergraph", async () => {
    const { plan } = await setUp({ workers: 2, planTimeoutMs: 1_000 });
    await planner.load("two");
    const [hanging, other] = await Promise.allSettled([plan("hang"), plan("{ a }")]);
    expect(reasonOf(hanging)).toBeInstanceOf(Refusal);
    expect(other).toMatchObject({ value: { supergraphs: ["one", "two"] } });
  });
});

describe("a supergraph", () => {
  test("is described as soon as it is loaded", async () => {
    const { loaded } = await setUp();
    expect(loaded).toMatchObject({ apiSdl: "api of one", aliasPrefix: "a_" });
  });

  test("that cannot be used is refused, and the others stay", async () => {
    const { plan } = await setUp();
    await expect(planner.load("invalid")).rejects.toThrow("It is invalid");
    expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
  });

  test.each([
    ["hang", "more than 500 ms"],
    ["throw", "thrown in the thread"],
  ])("that costs the thread its life (%s) is refused, and the others are loaded again", async (sdl, message) => {
    const { plan } = await setUp({ loadTimeoutMs: 500 });
    await expect(planner.load(sdl)).rejects.toThrow(message);
    expect(await plan("{ a }")).toMatchObject({ supergraphs: ["one"] });
  });

  test("is loaded again when the thread dies of something else", async () => {
    const { plan } = await setUp();
    const sdl = `once ${join(mkdtempSync(join(tmpdir(), "planner-")), "died")}`;
    const second = await planner.load(sdl);
    expect(await ask(second, "{ a }")).toMatchObject({ supergraphs: ["one", sdl] });
    expect(await plan("{ b }")).toMatchObject({ plannedBefore: 1 });
  });

  test("is forgotten once it is released, by new threads too", async () => {
    const { loaded } = await setUp({ planTimeoutMs: 1_000 });
    const second = await planner.load("two");
    loaded.release();
    expect(await ask(second, "{ a }")).toMatchObject({ supergraphs: ["two"] });
    await expect(second.plan("hang")).rejects.toThrow(Refusal);
    expect(await ask(second, "{ a }")).toMatchObject({ supergraphs: ["two"] });
  });
});

test("closing ends what is under way and what waits", async () => {
  const { plan } = await setUp({ planTimeoutMs: 60_000 });
  const all = [plan("hang"), plan("{ a }")];
  await Promise.all([planner.close(), expect(all[0]).rejects.toThrow(), expect(all[1]).rejects.toThrow()]);
  await expect(plan("{ b }")).rejects.toThrow();
  await expect(planner.load("two")).rejects.toThrow();
});

async function setUp(o: Partial<PlannerOptions> = {}) {
  observations = [];
  const threadFile = new URL("helpers/scripted-planner.ts", import.meta.url);
  const observe = (observation: Observation) => {
    // That each had its turn is seen from what became of it.
    if (observation.kind !== "plan-begun") observations.push(observation);
  };
  planner = createPlanner({ workers: 1, planTimeoutMs: 5_000, waitMsMax: 60_000, observe, threadFile, ...o });
  const loaded = await planner.load("one");
  return { loaded, plan: (operationText: string) => ask(loaded, operationText) };
}

/** The unruly planner's plans are none, but tell of it. */
async function ask(loaded: LoadedPlanner, operationText: string): Promise<Told> {
  return JSON.parse(await loaded.plan(operationText)) as Told;
}

function kinds(): string[] {
  return observations.map(({ kind }) => kind);
}

function reasonOf(settled: PromiseSettledResult<unknown>): unknown {
  return settled.status === "rejected" ? settled.reason : undefined;
}
