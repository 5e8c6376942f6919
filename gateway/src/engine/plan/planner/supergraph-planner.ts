// The planner pool's interface to one supergraph: plans its operations (for plan-cache.ts) and executes its large introspection queries (for
// introspection/).
import type { DocumentCpu } from "../../../document-cpu.ts";
import { Rejection } from "../../../errors/rejections.ts";
import type { GatewayObserver } from "../../../observations.ts";
import type { IntrospectionValues } from "../introspection/introspection-writer.ts";
import { createRejectedOperations, hashOperation } from "./rejected-operations.ts";
import type { IntrospectTask, LoadedSupergraph, PlanTask, TaskOutcome, WorkerLost } from "./worker-messages.ts";

export interface SupergraphPlanner extends LoadedSupergraph {
  /**
   * Returns the query plan of an operation as JSON. Concurrent calls for the same plan share one task.
   * @param enabledLabels labels of progressive `@override` that are true; all others are false.
   * @param cpu gets the CPU time of the task, also of one that fails. Concurrent calls count it once.
   * @throws Rejection OPERATION_TOO_COMPLEX if planning exceeds a limit of the planner, its CPU time or its memory, or did recently;
   * SERVICE_UNAVAILABLE if the queue is full, the wait too long, or the worker gets no CPU time; Error for a bug, or if the worker died twice.
   */
  plan(operationText: string, enabledLabels: readonly string[], cpu?: DocumentCpu): Promise<string>;
  /**
   * Executes the introspection selection with this key. Undefined if the JSON is longer than `bytesMax`.
   * @param cpu as in `plan`.
   * @throws Rejection OPERATION_TOO_COMPLEX if it exceeds the CPU time or memory of a worker; otherwise as `plan`.
   */
  introspect(key: string, bytesMax: number, cpu?: DocumentCpu): Promise<IntrospectionValues | undefined>;
  /** Frees the supergraph's memory in the workers. Later calls of `plan` and `introspect` fail. */
  release(): void;
}

export type RunTask = (task: Omit<PlanTask, "id"> | Omit<IntrospectTask, "id">) => Promise<TaskOutcome>;

export interface SupergraphPlannerOptions {
  readonly loaded: LoadedSupergraph;
  readonly runTask: RunTask;
  readonly release: () => void;
  readonly observe: GatewayObserver;
}

export function createSupergraphPlanner(o: SupergraphPlannerOptions): SupergraphPlanner {
  const { loaded, runTask, release, observe } = o;
  const pending = new Map<string, Promise<string>>();
  const rejected = createRejectedOperations({
    entriesMax: 1_000,
    ttlMsMin: 10_000,
    ttlMsMax: 10 * 60_000,
    clock: () => performance.now(),
  });

  async function runCounted(task: Parameters<RunTask>[0], cpu: DocumentCpu | undefined): Promise<TaskOutcome> {
    const outcome = await runTask(task);
    if (cpu && outcome.kind !== "not-started") cpu.documentCpuMs += outcome.cpuMs;
    return outcome;
  }

  async function planOnce(key: string, task: Omit<PlanTask, "id">, cpu: DocumentCpu | undefined): Promise<string> {
    const startedMs = performance.now();
    const outcome = await runCounted(task, cpu);
    if (outcome.kind === "planned") {
      const tookMs = Math.round(performance.now() - startedMs);
      observe({ kind: "plan-built", tookMs, jsonCharacters: outcome.planJson.length });
      return outcome.planJson;
    }
    const { reason, error, cause } = explainFailure(outcome);
    observe({ kind: "plan-failed", reason, operationHash: hashOperation(task.operationText), cause });
    if (error instanceof Rejection && error.code === "OPERATION_TOO_COMPLEX") rejected.add(key);
    throw error;
  }

  return {
    ...loaded,
    plan(operationText, enabledLabels, cpu) {
      const key = planKey(operationText, enabledLabels);
      if (rejected.has(key)) return Promise.reject(new Rejection("OPERATION_TOO_COMPLEX"));
      const earlier = pending.get(key);
      if (earlier) return earlier;
      const planned = planOnce(key, { kind: "plan", operationText, enabledLabels }, cpu).finally(() =>
        pending.delete(key),
      );
      pending.set(key, planned);
      return planned;
    },
    async introspect(key, bytesMax, cpu) {
      const outcome = await runCounted({ kind: "introspect", key, bytesMax }, cpu);
      if (outcome.kind === "introspected") return outcome.values;
      throw explainFailure(outcome).error;
    },
    release,
  };
}

/** Identifies a plan of one supergraph: the operation, and the labels of `@override` that are true. */
export function planKey(operationText: string, enabledLabels: readonly string[]): string {
  return enabledLabels.length === 0 ? operationText : `#${enabledLabels.join()}\n${operationText}`;
}

interface PlanFailure {
  readonly reason: string;
  /** Thrown to the caller. */
  readonly error: Error;
  /** Logged. */
  readonly cause: unknown;
}

function explainFailure(outcome: TaskOutcome): PlanFailure {
  if (outcome.kind === "too-complex")
    return { reason: outcome.kind, error: new Rejection("OPERATION_TOO_COMPLEX"), cause: outcome.message };
  if (outcome.kind === "not-started")
    return { reason: outcome.reason, error: createBusyRejection(), cause: "No planner worker took the operation" };
  if (outcome.kind === "worker-lost") return explainLostWorker(outcome);
  const cause = toError(outcome);
  return { reason: "bug", error: cause, cause };
}

/** With the reasons `deadline` and `memory`, the operation itself exceeded a limit of the worker. */
function explainLostWorker({ reason, cause }: WorkerLost): PlanFailure {
  if (reason === "died") return { reason, error: new Error("The planner worker died", { cause }), cause };
  if (reason === "stalled") return { reason, error: createBusyRejection(), cause };
  return { reason, error: new Rejection("OPERATION_TOO_COMPLEX"), cause };
}

/** SERVICE_UNAVAILABLE, because the operation is not the cause: a retry can succeed. */
function createBusyRejection(): Rejection {
  const message = "Too many operations are waiting to be planned. Retry after 1 s.";
  return new Rejection("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
}

/** The failure as an Error, with the stack of the worker thread. */
export function toError(outcome: TaskOutcome): Error {
  if (outcome.kind === "worker-lost") return outcome.cause;
  if (outcome.kind !== "failed") return new Error(`Unexpected outcome of a planner task: ${outcome.kind}`);
  const error = new Error(outcome.message);
  if (outcome.stack !== undefined) error.stack = outcome.stack;
  return error;
}
