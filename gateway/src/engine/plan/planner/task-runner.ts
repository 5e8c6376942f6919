// Runs tasks in a planner worker (a worker thread): holds the loaded supergraphs, each with its query planner.
import { withOneOfDefinitionText } from "@tributary/kit/federation/one-of";
import { assertValidSchema, buildASTSchema, type GraphQLSchema, parse } from "graphql";
import {
  readIntrospectionKey,
  writeIntrospection,
  writeStandardIntrospection,
} from "../introspection/introspection-writer.ts";
import { createQueryPlanner, type QueryPlanner } from "../rewrite/query-planner.ts";
import { forApolloGateway } from "../rewrite/supergraph-features.ts";
import { listWarmUpOperations } from "./warm-up-operation.ts";
import type { IntrospectTask, LibraryLogEntry, LoadTask, PlanTask, Task, TaskResult } from "./worker-messages.ts";

interface RunnableSupergraph {
  readonly planner: QueryPlanner;
  /** The schema that clients see. */
  readonly apiSchema: GraphQLSchema;
}

type SendLogEntry = (entry: LibraryLogEntry) => void;

/** The error messages of the query planner's limits, which have no codes, and of the stack's limit, which deep operations reach first. */
const tooComplexMessages =
  /maximum recursive selections|non-local selections exceeds|^Too many options generated|^Maximum call stack size exceeded$/;

export function createTaskRunner({ log }: { readonly log: SendLogEntry }) {
  const supergraphs = new Map<number, RunnableSupergraph>();

  async function load({ id, supergraphSdl, isKnown }: LoadTask): Promise<TaskResult> {
    const isValidated = isKnown || (await validate(supergraphSdl, log));
    const planner = createQueryPlanner(supergraphSdl, { isValidated });
    const apiSchema = buildASTSchema(parse(planner.apiSdl, { noLocation: true }), { assumeValidSDL: true });
    // Here, and not only by Apollo Server in the main thread, because an error of a planner worker is one of the supergraph: it is not retried.
    assertValidSchema(apiSchema);
    supergraphs.set(id, { planner, apiSchema });
    const { plan: _plan, ...published } = planner;
    return { kind: "loaded", ...published, introspection: writeStandardIntrospection(apiSchema) };
  }

  function plan({ id, operationText, enabledLabels }: PlanTask): TaskResult {
    const { planner } = getSupergraph(id);
    return { kind: "planned", planJson: JSON.stringify(planner.plan(operationText, enabledLabels)) };
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

  async function runTask(task: Task): Promise<TaskResult> {
    switch (task.kind) {
      case "start":
        // The result only shows that the worker runs.
        return { kind: "done" };
      case "load":
        return load(task);
      case "warm":
        warmPlanner(getSupergraph(task.id).planner);
        return { kind: "done" };
      case "plan":
        return plan(task);
      case "introspect":
        return introspect(task);
      case "drop":
        supergraphs.delete(task.id);
        return { kind: "done" };
    }
  }

  /** Never rejects: a failure is a result of kind `too-complex` or `failed`. */
  return { run: (task: Task): Promise<TaskResult> => runTask(task).catch((error: unknown) => toFailure(task, error)) };
}

/** Apollo Gateway is used only here, to validate a new supergraph: a worker that replaces another does without its modules. */
export const importApolloGateway = () => import("@apollo/gateway");

/**
 * @returns false for a supergraph that Apollo Gateway cannot load.
 * @throws Error if Apollo Gateway rejects the supergraph.
 */
async function validate(publishedSdl: string, log: SendLogEntry): Promise<boolean> {
  const loadable = forApolloGateway(publishedSdl);
  if (loadable === undefined) return false;
  const { ApolloGateway } = await importApolloGateway();
  const supergraphSdl = withOneOfDefinitionText(loadable);
  const gateway = new ApolloGateway({ supergraphSdl, validateSupergraph: true, logger: createLogger(log) });
  try {
    await gateway.load();
  } catch (error) {
    // For a supergraph that both reject, this error message is clearer.
    createQueryPlanner(publishedSdl);
    throw error;
  }
  await gateway.stop();
  return true;
}

function createLogger(log: SendLogEntry) {
  const logAt = (level: LibraryLogEntry["level"]) => (message?: unknown) => {
    const text = message instanceof Error ? (message.stack ?? message.message) : String(message);
    log({ kind: "library-log", level, text });
  };
  // The `info` entries are routine messages about the start of Apollo Gateway, which each load of a supergraph repeats.
  return { debug: logAt("debug"), info: logAt("debug"), warn: logAt("warn"), error: logAt("error") };
}

/** Clients wait for the worker meanwhile. */
const warmUpMsMax = 200;

/**
 * Plans a few operations, because the first plans take ten times as long as later ones: code is compiled, and the planner fills the caches of its
 * query graph. This is not the warming of a generation, which plans the operations that clients use most.
 */
function warmPlanner(planner: QueryPlanner): void {
  try {
    const endMs = performance.now() + warmUpMsMax;
    for (const operation of listWarmUpOperations(planner.apiSdl)) {
      planner.plan(operation);
      if (performance.now() > endMs) break;
    }
  } catch {
    // Ignored: an operation of a client that causes the same error reports it.
  }
}

function toFailure(task: Task, error: unknown): TaskResult {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (task.kind === "plan" && tooComplexMessages.test(message)) return { kind: "too-complex", message };
  return { kind: "failed", message, stack };
}
