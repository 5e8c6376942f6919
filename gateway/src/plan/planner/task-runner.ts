// Runs the tasks of a planner worker, in its thread.
import { buildASTSchema, type GraphQLSchema, parse } from "graphql";
import {
  readIntrospectionKey,
  writeIntrospection,
  writeStandardIntrospection,
} from "../introspection/introspection-writer.ts";
import { createQueryPlanner, type QueryPlanner } from "../rewrite/query-planner.ts";
import { findWarmUpOperation } from "./warm-up-operation.ts";
import type { IntrospectTask, PlanTask, Task, TaskResult } from "./worker-messages.ts";

interface RunnableSupergraph extends Pick<QueryPlanner, "plan"> {
  readonly apiSchema: GraphQLSchema;
}

export interface TaskRunner {
  /** Never throws: a failure is a result of kind `too-complex` or `failed`. */
  run(task: Task): TaskResult;
}

/** The error messages of the query planner's limits, which have no codes, and of the stack's limit, which deep operations reach first. */
const tooComplexMessages =
  /maximum recursive selections|non-local selections exceeds|^Too many options generated|^Maximum call stack size exceeded$/;

export function createTaskRunner(): TaskRunner {
  const supergraphs = new Map<number, RunnableSupergraph>();

  function load(id: number, supergraphSdl: string): TaskResult {
    const { plan: planOperation, ...facts } = createQueryPlanner(supergraphSdl);
    const apiSchema = buildASTSchema(parse(facts.apiSdl, { noLocation: true }), { assumeValidSDL: true });
    supergraphs.set(id, { plan: planOperation, apiSchema });
    // The worker posts the result first: the planner is warmed while the main thread builds its schemas.
    setImmediate(warmPlanner, apiSchema, planOperation);
    return { kind: "loaded", ...facts, introspection: writeStandardIntrospection(apiSchema) };
  }

  function plan({ id, operationText, enabledLabels }: PlanTask): TaskResult {
    return { kind: "planned", planJson: JSON.stringify(getSupergraph(id).plan(operationText, enabledLabels)) };
  }

  function introspect({ id, key, bytesMax }: IntrospectTask): TaskResult {
    const { apiSchema } = getSupergraph(id);
    const values = writeIntrospection(apiSchema, readIntrospectionKey(apiSchema, key), bytesMax);
    return { kind: "introspected", values };
  }

  function getSupergraph(id: number): RunnableSupergraph {
    const supergraph = supergraphs.get(id);
    if (!supergraph) throw new Error(`Supergraph ${id} is not loaded in this worker`);
    return supergraph;
  }

  function runTask(task: Task): TaskResult {
    switch (task.kind) {
      case "start":
        return { kind: "done" };
      case "load":
        return load(task.id, task.supergraphSdl);
      case "plan":
        return plan(task);
      case "introspect":
        return introspect(task);
      case "drop":
        supergraphs.delete(task.id);
        return { kind: "done" };
    }
  }

  return {
    run(task) {
      try {
        return runTask(task);
      } catch (error) {
        return toFailure(task, error);
      }
    },
  };
}

/**
 * Plans one operation, because the first plans take ten times as long as later ones: code is compiled, and the planner fills the caches of its
 * query graph. This is not the warming of a generation, which plans the operations that clients use most.
 */
function warmPlanner(apiSchema: GraphQLSchema, plan: QueryPlanner["plan"]): void {
  try {
    const operation = findWarmUpOperation(apiSchema);
    if (operation !== undefined) plan(operation);
  } catch {
    // Ignored: an operation of a client that causes the same error reports it.
  }
}

function toFailure(task: Task, error: unknown): TaskResult {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (task.kind === "plan" && tooComplexMessages.test(message)) return { kind: "too-complex", message };
  return { kind: "failed", message, stack };
}
