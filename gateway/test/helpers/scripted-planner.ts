// A planner worker for tests: the text of the operation or supergraph says what it does. Instead of a query plan it sends a `ScriptedPlan`.
import { existsSync, writeFileSync } from "node:fs";
import { parentPort, threadId } from "node:worker_threads";
import type { Task, TaskResult, TimedResult } from "../../src/engine/plan/planner/worker-messages.ts";

export interface ScriptedPlan {
  readonly operationText: string;
  readonly threadId: number;
  /** How many operations this worker had planned before. */
  readonly plannedBefore: number;
  /** The SDL of the supergraphs that this worker has loaded. */
  readonly supergraphs: readonly string[];
  /** Those of them whose planner was warmed. */
  readonly warmed: readonly string[];
}

const supergraphs = new Map<number, string>();
const warmed: string[] = [];
let planned = 0;

parentPort?.on("message", (task: Task) => {
  const result = run(task);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  if (result) parentPort?.postMessage({ ...result, cpuMs: 1 } satisfies TimedResult);
});

function run(task: Task): TaskResult | undefined {
  if (task.kind === "load") return load(task.id, task.supergraphSdl);
  if (task.kind === "plan") return plan(task.operationText);
  if (task.kind === "warm") return warm(supergraphs.get(task.id) ?? "");
  if (task.kind === "drop") supergraphs.delete(task.id);
  return { kind: "done" };
}

function load(id: number, supergraphSdl: string): TaskResult | undefined {
  if (supergraphSdl === "invalid") return { kind: "failed", message: "The supergraph is invalid", stack: undefined };
  const scripted = followScript(supergraphSdl);
  if (scripted !== "continue") return scripted;
  supergraphs.set(id, supergraphSdl);
  return {
    kind: "loaded",
    apiSdl: `api of ${supergraphSdl}`,
    introspection: [],
    aliasPrefix: "a_",
    overrideLabels: new Map(),
    ineffectiveDirectives: { federation: [], custom: [] },
    rootFieldPriorities: { query: new Map(), mutation: new Map() },
  };
}

function warm(supergraphSdl: string): TaskResult {
  if (supergraphSdl.startsWith("cannot warm")) process.exit(3);
  warmed.push(supergraphSdl);
  return { kind: "done" };
}

function plan(operationText: string): TaskResult | undefined {
  const scripted = followScript(operationText);
  if (scripted !== "continue") return scripted;
  const scriptedPlan: ScriptedPlan = {
    operationText,
    threadId,
    plannedBefore: planned++,
    supergraphs: [...supergraphs.values()],
    warmed,
  };
  return { kind: "planned", planJson: JSON.stringify(scriptedPlan) };
}

/** Undefined if the worker sends no result. */
function followScript(text: string): TaskResult | "continue" | undefined {
  if (text.startsWith("hang")) for (;;);
  // Uses no CPU time, like a thread that waits for a core.
  if (text.startsWith("wait "))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(text.split(" ")[1]));
  if (text.startsWith("fill")) for (const all: unknown[] = []; ;) all.push({ more: all.length });
  if (text.startsWith("exit")) return void process.exit(3);
  if (text.startsWith("throw")) throw new Error("thrown in the worker");
  if (text.startsWith("once ")) return exitOnce(text.slice("once ".length));
  if (text.startsWith("complex")) return { kind: "too-complex", message: "maximum recursive selections" };
  if (text.startsWith("bug")) return { kind: "failed", message: "a bug", stack: "Error: a bug\n    at the worker" };
  return "continue";
}

/** Exits only in the first worker: the file marks that it has. */
function exitOnce(file: string): "continue" | undefined {
  if (existsSync(file)) return "continue";
  writeFileSync(file, "");
  return void process.exit(3);
}
