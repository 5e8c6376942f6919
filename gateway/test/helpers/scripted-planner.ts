// A planner's thread for tests: it does what the operation says. Its plans tell who made them.
import { existsSync, writeFileSync } from "node:fs";
import { parentPort, threadId } from "node:worker_threads";
import type { Task, TaskAnswer } from "../../src/plan/planner/tasks.ts";

/** What an unruly planner answers instead of a plan. */
export interface Told {
  readonly operationText: string;
  readonly threadId: number;
  /** How many operations this thread had planned before. */
  readonly plannedBefore: number;
  /** The supergraphs that this thread has loaded, as they were sent. */
  readonly supergraphs: readonly string[];
}

const supergraphs = new Map<number, string>();
let planned = 0;

parentPort?.on("message", (task: Task) => {
  const answer = perform(task);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  if (answer) parentPort?.postMessage(answer);
});

function perform(task: Task): TaskAnswer | undefined {
  if (task.kind === "load") return load(task.id, task.supergraphSdl);
  if (task.kind === "plan") return plan(task.operationText);
  if (task.kind === "drop") supergraphs.delete(task.id);
  return { kind: "done" };
}

function load(id: number, supergraphSdl: string): TaskAnswer | undefined {
  if (supergraphSdl === "invalid") return { kind: "failed", message: "It is invalid", stack: undefined };
  const told = misbehave(supergraphSdl);
  if (told !== "plan") return told;
  supergraphs.set(id, supergraphSdl);
  return {
    kind: "loaded",
    apiSdl: `api of ${supergraphSdl}`,
    introspection: [],
    aliasPrefix: "a_",
    overrideLabels: new Map(),
    ineffectiveDirectives: { federation: [], custom: [] },
  };
}

function plan(operationText: string): TaskAnswer | undefined {
  const told = misbehave(operationText);
  if (told !== "plan") return told;
  const answer: Told = {
    operationText,
    threadId,
    plannedBefore: planned++,
    supergraphs: [...supergraphs.values()],
  };
  return { kind: "planned", planJson: JSON.stringify(answer) };
}

/** Undefined: says nothing, and what it does instead has begun. */
function misbehave(text: string): TaskAnswer | "plan" | undefined {
  if (text.startsWith("hang")) for (;;);
  if (text.startsWith("fill")) for (const all: unknown[] = []; ;) all.push({ more: all.length });
  if (text.startsWith("exit")) return void process.exit(3);
  if (text.startsWith("throw")) throw new Error("thrown in the thread");
  if (text.startsWith("once ")) return dieOnce(text.slice("once ".length));
  if (text.startsWith("complex")) return { kind: "too-complex", message: "maximum recursive selections" };
  if (text.startsWith("bug")) return { kind: "failed", message: "a bug", stack: "Error: a bug\n    at the thread" };
  return "plan";
}

function dieOnce(file: string): "plan" | undefined {
  if (existsSync(file)) return "plan";
  writeFileSync(file, "");
  return void process.exit(3);
}
