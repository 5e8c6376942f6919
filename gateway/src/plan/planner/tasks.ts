// Stage 3 of 5: how to answer? What the main thread and a planner's thread say to one another. One task at a time.
import type { IntrospectionEntry, IntrospectionValues } from "../introspection-writer.ts";
import type { OverrideLabels } from "../rewrite/override-labels.ts";
import type { IneffectiveDirectives } from "../rewrite/supergraph-features.ts";

/** `id` stands for one supergraph, as long as it is in use. */
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
  /** Of `@override`; all others are false. */
  readonly enabledLabels: readonly string[];
}

export interface IntrospectTask {
  readonly kind: "introspect";
  readonly id: number;
  /** Of an IntrospectionSelection. */
  readonly key: string;
  readonly bytesMax: number;
}

export type TaskAnswer =
  | { readonly kind: "done" }
  | ({ readonly kind: "loaded" } & LoadedFacts)
  /** As text: it is read faster than a cloned object, and its length is known. */
  | { readonly kind: "planned"; readonly planJson: string }
  /** Undefined: longer than it may be. */
  | { readonly kind: "introspected"; readonly values: IntrospectionValues | undefined }
  | { readonly kind: "too-complex"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string; readonly stack: string | undefined };

export interface LoadedFacts {
  /** What clients see. */
  readonly apiSdl: string;
  /** No field of the supergraph begins with it. */
  readonly aliasPrefix: string;
  /** The responses to the introspection queries of tools. */
  readonly introspection: readonly IntrospectionEntry[];
  readonly overrideLabels: OverrideLabels;
  readonly ineffectiveDirectives: IneffectiveDirectives;
}

/** What a library in the thread has to say. It belongs to no task. */
export interface LibrarySaid {
  readonly kind: "library-said";
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/** The thread is gone, and with it the task it was at. `deadline`: we ended it. `memory`: it had no more. */
export interface ThreadLost {
  readonly kind: "thread-lost";
  readonly reason: "deadline" | "memory" | "died";
  readonly cause: Error;
}

/** Nobody took the task. */
interface NotTaken {
  readonly kind: "not-taken";
  readonly reason: "queue-full" | "waited-too-long" | "closed";
}

export type Outcome = TaskAnswer | ThreadLost | NotTaken;

export interface Job {
  readonly task: Task;
  /** From the moment a thread gets it. */
  readonly timeoutMs: number;
  settle(outcome: Outcome): void;
}

/** What a thread is started with. */
export interface ThreadData {
  /** Where compiled code is kept between starts; undefined: nowhere. */
  readonly compileCacheFolder: string | undefined;
}
