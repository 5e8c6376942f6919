// The messages between the main thread and a planner worker.
import type { IntrospectionEntry, IntrospectionValues } from "../introspection/introspection-writer.ts";
import type { QueryPlanner } from "../rewrite/query-planner.ts";

/** `id` identifies a supergraph. The result of `start` means that the worker is running. */
export type Task =
  | { readonly kind: "start" }
  | { readonly kind: "load"; readonly id: number; readonly supergraphSdl: string }
  | PlanTask
  | IntrospectTask
  | { readonly kind: "drop"; readonly id: number };

export interface PlanTask {
  readonly kind: "plan";
  readonly id: number;
  readonly operationText: string;
  /** Labels of progressive `@override` that are true. */
  readonly enabledLabels: readonly string[];
}

export interface IntrospectTask {
  readonly kind: "introspect";
  readonly id: number;
  /** The key of an IntrospectionSelection. */
  readonly key: string;
  readonly bytesMax: number;
}

export type TaskResult =
  | { readonly kind: "done" }
  | ({ readonly kind: "loaded" } & LoadedSupergraph)
  /** A QueryPlan as JSON text: parsing it is faster than cloning the object, and its length is known. */
  | { readonly kind: "planned"; readonly planJson: string }
  | { readonly kind: "introspected"; readonly values: IntrospectionValues | undefined }
  | { readonly kind: "too-complex"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string; readonly stack: string | undefined };

export interface LoadedSupergraph extends Omit<QueryPlanner, "plan"> {
  /** The responses to the introspection queries that tools send. */
  readonly introspection: readonly IntrospectionEntry[];
}

/**
 * `deadline` and `memory`: the task itself exceeded a limit, so a retry would end in the same way. `stalled`: the worker got almost no CPU time.
 * `died`: any other exit, and the end of the pool.
 */
export interface WorkerLost {
  readonly kind: "worker-lost";
  readonly reason: "deadline" | "memory" | "stalled" | "died";
  readonly cause: Error;
}

interface TaskNotStarted {
  readonly kind: "not-started";
  readonly reason: "queue-full" | "waited-too-long" | "closed";
}

export type TaskOutcome = TaskResult | WorkerLost | TaskNotStarted;

/** `settle` is called once. */
export interface PlannerJob {
  readonly task: Task;
  readonly cpuMsMax: number;
  settle(outcome: TaskOutcome): void;
}

export interface PlannerWorkerData {
  /** Undefined if Node's compile cache is disabled. */
  readonly compileCacheFolder: string | undefined;
  /** Whether the gateway serves nothing until this worker has loaded its first supergraph. */
  readonly isFirstLoadUrgent: boolean;
}
