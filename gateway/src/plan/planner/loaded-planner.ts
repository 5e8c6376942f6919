// Stage 3 of 5: how to answer? The planner of one supergraph, as the rest of the gateway sees it.
import { Refusal } from "../../errors/codes.ts";
import type { Observe } from "../../telemetry/observation-log.ts";
import { createRefusedOperations, hashOperation } from "./refused-operations.ts";
import type { IntrospectionValues } from "../introspection-writer.ts";
import type { IntrospectTask, LoadedFacts, Outcome, PlanTask } from "./tasks.ts";

export interface LoadedPlanner extends LoadedFacts {
  /**
   * The plan of an operation as JSON, with these labels of `@override` true and all others false. Concurrent calls for the same plan share one task.
   * @throws Refusal OPERATION_TOO_COMPLEX; SERVICE_UNAVAILABLE when too many operations wait; Error for a bug.
   */
  plan(operationText: string, enabledLabels?: readonly string[]): Promise<string>;
  /**
   * Executes the introspection selection with this key. Undefined if the JSON is longer than `bytesMax`.
   * @throws Refusal SERVICE_UNAVAILABLE when the threads are busy; Error for a bug.
   */
  introspect(key: string, bytesMax: number): Promise<IntrospectionValues | undefined>;
  /** Frees what the threads keep for it. Nothing can be planned any more. */
  release(): void;
}

export type RunTask = (task: Omit<PlanTask, "id"> | Omit<IntrospectTask, "id">) => Promise<Outcome>;

export interface LoadedPlannerOptions {
  readonly facts: LoadedFacts;
  readonly ask: RunTask;
  readonly release: () => void;
  readonly observe: Observe;
}

const refusedBounds = { entriesMax: 1_000, ttlMsMin: 10_000, ttlMsMax: 10 * 60_000 };

export function createLoadedPlanner({ facts, ask, release, observe }: LoadedPlannerOptions): LoadedPlanner {
  const pending = new Map<string, Promise<string>>();
  const refused = createRefusedOperations({ ...refusedBounds, clock: () => performance.now() });

  async function planOnce(key: string, operationText: string, enabledLabels: readonly string[]): Promise<string> {
    const startedMs = performance.now();
    const outcome = await ask({ kind: "plan", operationText, enabledLabels });
    if (outcome.kind === "planned") {
      const tookMs = Math.round(performance.now() - startedMs);
      observe({ kind: "plan-built", tookMs, jsonCharacters: outcome.planJson.length });
      return outcome.planJson;
    }
    const { reason, error, cause } = explainFailure(outcome);
    observe({ kind: "plan-failed", reason, operationHash: hashOperation(operationText), cause });
    if (error instanceof Refusal && error.code === "OPERATION_TOO_COMPLEX") refused.add(key);
    throw error;
  }

  return {
    apiSdl: facts.apiSdl,
    aliasPrefix: facts.aliasPrefix,
    introspection: facts.introspection,
    overrideLabels: facts.overrideLabels,
    ineffectiveDirectives: facts.ineffectiveDirectives,
    plan(operationText, enabledLabels = []) {
      const key = planKey(operationText, enabledLabels);
      if (refused.has(key)) return Promise.reject(new Refusal("OPERATION_TOO_COMPLEX"));
      const earlier = pending.get(key);
      if (earlier) return earlier;
      const planned = planOnce(key, operationText, enabledLabels).finally(() => pending.delete(key));
      pending.set(key, planned);
      return planned;
    },
    async introspect(key, bytesMax) {
      const outcome = await ask({ kind: "introspect", key, bytesMax });
      if (outcome.kind === "introspected") return outcome.values;
      throw explainFailure(outcome).error;
    },
    release,
  };
}

/** Names a plan of one supergraph: the operation, and the labels of `@override` that are true. */
export function planKey(operationText: string, enabledLabels: readonly string[]): string {
  return enabledLabels.length === 0 ? operationText : `#${enabledLabels.join()}\n${operationText}`;
}

interface Failure {
  readonly reason: string;
  /** For the caller. */
  readonly error: Error;
  /** For the log. */
  readonly cause: unknown;
}

function explainFailure(outcome: Outcome): Failure {
  if (outcome.kind === "too-complex")
    return { reason: outcome.kind, error: new Refusal("OPERATION_TOO_COMPLEX"), cause: outcome.message };
  if (outcome.kind === "not-taken")
    return { reason: outcome.reason, error: refuseForNow(), cause: "No thread took the operation" };
  const cause = toError(outcome);
  if (outcome.kind !== "thread-lost") return { reason: "bug", error: cause, cause };
  if (outcome.reason === "died") return { reason: "died", error: new Error("The planner died", { cause }), cause };
  return { reason: outcome.reason, error: new Refusal("OPERATION_TOO_COMPLEX"), cause };
}

/** Nothing is wrong with the operation, and those that are planned already are served. */
function refuseForNow(): Refusal {
  const message = "Too many operations that were not seen before. Try again soon.";
  return new Refusal("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
}

/** What failed in the thread, with the stack it had there. */
export function toError(outcome: Outcome): Error {
  if (outcome.kind === "thread-lost") return outcome.cause;
  if (outcome.kind !== "failed") return new Error(`The planner answered ${outcome.kind}`);
  const error = new Error(outcome.message);
  if (outcome.stack !== undefined) error.stack = outcome.stack;
  return error;
}
