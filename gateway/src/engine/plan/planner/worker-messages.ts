// The messages between the main thread and a planner worker. A worker runs one task at a time.
import type { IntrospectionEntry, IntrospectionValues } from "../introspection/introspection-writer.ts";
import type { PublishedSupergraph } from "../rewrite/query-planner.ts";

/**
 * `id` identifies a supergraph from `load` to `drop`. `start` does nothing: its result means that the worker is running. `warm` plans an operation, so
 * that its CPU time does not count for the first one of a client.
 */
export type Task =
  | { readonly kind: "start" }
  | LoadTask
  | { readonly kind: "warm"; readonly id: number }
  | PlanTask
  | IntrospectTask
  | { readonly kind: "drop"; readonly id: number };

export interface LoadTask {
  readonly kind: "load";
  readonly id: number;
  readonly supergraphSdl: string;
  /** Whether another worker has loaded it. Then it is not validated again. */
  readonly isKnown: boolean;
}

export interface PlanTask {
  readonly kind: "plan";
  readonly id: number;
  readonly operationText: string;
  /** The labels of progressive `@override` that are true; all others are false. */
  readonly enabledLabels: readonly string[];
}

export interface IntrospectTask {
  readonly kind: "introspect";
  readonly id: number;
  /** The key of an IntrospectionSelection. */
  readonly key: string;
  readonly bytesMax: number;
}

/** What a worker sends back for a task. */
export type TaskResult =
  | { readonly kind: "done" }
  | ({ readonly kind: "loaded" } & LoadedSupergraph)
  /** A QueryPlan as JSON text: parsing it is faster than cloning the object, and its length is known. */
  | { readonly kind: "planned"; readonly planJson: string }
  /** `values` is undefined if the JSON is longer than `bytesMax`. */
  | { readonly kind: "introspected"; readonly values: IntrospectionValues | undefined }
  | { readonly kind: "too-complex"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string; readonly stack: string | undefined };

export interface LoadedSupergraph extends PublishedSupergraph {
  /** The responses to the introspection queries that tools send. */
  readonly introspection: readonly IntrospectionEntry[];
}

/** A log entry of Apollo's libraries in the worker. It belongs to no task. */
export interface LibraryLogEntry {
  readonly kind: "library-log";
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/**
 * The worker ended before its task did. `deadline`: the task used too much CPU time. `memory`: it reached the worker's heap limit. In both cases the
 * task itself is the cause, so a retry would end in the same way. `stalled`: the worker got almost no CPU time. `died`: any other exit or uncaught
 * error, and the end of the pool.
 */
export interface WorkerLost {
  readonly kind: "worker-lost";
  readonly reason: "deadline" | "memory" | "stalled" | "died";
  readonly cause: Error;
  /** The time since the task began, at most the CPU time that it may use. 0 unless the task is the cause. */
  readonly cpuMs: number;
}

/** No worker started the task. */
interface TaskNotStarted {
  readonly kind: "not-started";
  readonly reason: "queue-full" | "waited-too-long" | "closed";
}

/** With the CPU time of the worker's thread. */
export type TimedResult = TaskResult & { readonly cpuMs: number };

export type TaskOutcome = TimedResult | WorkerLost | TaskNotStarted;

/** A task in the main thread, with the callback that gets its outcome. `settle` is called once. */
export interface PlannerJob {
  readonly task: Task;
  /** The CPU time that a worker may use for the task. */
  readonly cpuMsMax: number;
  settle(outcome: TaskOutcome): void;
}

/** The `workerData` of a planner worker. */
export interface PlannerWorkerData {
  /** The folder of Node's compile cache; undefined if the cache is disabled. */
  readonly compileCacheFolder: string | undefined;
  /** Whether clients wait until this worker has loaded its first supergraph. */
  readonly isFirstLoadUrgent: boolean;
  /** See `LoadTask`. */
  readonly isFirstLoadKnown: boolean;
}
