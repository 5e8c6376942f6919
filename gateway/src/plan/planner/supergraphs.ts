// Stage 3 of 5: how to answer? In a planner's thread: the supergraphs in use, and the planner of each.
import { ApolloGateway } from "@apollo/gateway";
import { buildASTSchema, type GraphQLSchema, parse } from "graphql";
import { readIntrospectionKey, writeIntrospection, writeStandardIntrospection } from "../introspection-writer.ts";
import { createQueryPlanner } from "../rewrite/create-planner.ts";
import { withoutCacheTags } from "../rewrite/supergraph-features.ts";
import type { IntrospectTask, LibrarySaid, PlanTask, Task, TaskAnswer } from "./tasks.ts";
import { findWarmUpOperation } from "./warm-up.ts";

type QueryPlanner = ReturnType<typeof createQueryPlanner>;

interface Loaded {
  readonly planner: QueryPlanner;
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
}

export interface Supergraphs {
  /** Never rejects: what goes wrong is an answer. */
  perform(task: Task): Promise<TaskAnswer>;
}

/** The planner's own limits, by its words: it has no codes. And the stack's, which a deep operation reaches first. */
const tooComplex =
  /maximum recursive selections|non-local selections exceeds|^Too many options generated|^Maximum call stack size exceeded$/;

export function createSupergraphs({ say }: { readonly say: (said: LibrarySaid) => void }): Supergraphs {
  const supergraphs = new Map<number, Loaded>();

  async function load(id: number, supergraphSdl: string): Promise<TaskAnswer> {
    // First, because of two reasons against a supergraph this one's is the plainer.
    const planner = createQueryPlanner(supergraphSdl);
    await validate(withoutCacheTags(supergraphSdl), say);
    const apiSchema = buildASTSchema(parse(planner.apiSdl, { noLocation: true }), { assumeValidSDL: true });
    supergraphs.set(id, { planner, apiSchema });
    // While the main thread builds its schemas.
    setImmediate(warmUp, planner);
    const { plan: _plan, ...facts } = planner;
    return { kind: "loaded", ...facts, introspection: writeStandardIntrospection(apiSchema) };
  }

  function plan({ id, operationText, enabledLabels }: PlanTask): TaskAnswer {
    const { planner } = getSupergraph(id);
    return { kind: "planned", planJson: JSON.stringify(planner.plan(operationText, enabledLabels)) };
  }

  function introspect({ id, key, bytesMax }: IntrospectTask): TaskAnswer {
    const { apiSchema } = getSupergraph(id);
    const values = writeIntrospection(apiSchema, readIntrospectionKey(apiSchema, key), bytesMax);
    return { kind: "introspected", values };
  }

  /** @throws Error */
  function getSupergraph(id: number): Loaded {
    const supergraph = supergraphs.get(id);
    if (!supergraph) throw new Error(`No supergraph ${id} is loaded here`);
    return supergraph;
  }

  async function answer(task: Task): Promise<TaskAnswer> {
    if (task.kind === "load") return load(task.id, task.supergraphSdl);
    if (task.kind === "plan") return plan(task);
    if (task.kind === "introspect") return introspect(task);
    if (task.kind === "drop") supergraphs.delete(task.id);
    return { kind: "done" };
  }

  return { perform: (task) => answer(task).catch((error: unknown) => toFailure(task, error)) };
}

/** @throws Error when Apollo Gateway would not serve it. */
async function validate(supergraphSdl: string, say: (said: LibrarySaid) => void): Promise<void> {
  const gateway = new ApolloGateway({ supergraphSdl, validateSupergraph: true, logger: createLogger(say) });
  await gateway.load();
  await gateway.stop();
}

function createLogger(say: (said: LibrarySaid) => void) {
  const at = (level: LibrarySaid["level"]) => (text?: unknown) => {
    say({ kind: "library-said", level, text: text instanceof Error ? (text.stack ?? text.message) : String(text) });
  };
  return { debug: at("debug"), info: at("debug"), warn: at("warn"), error: at("error") };
}

/** The first plans take ten times what later ones do: code is compiled, and the query graph looks up what it keeps. */
function warmUp(planner: QueryPlanner): void {
  try {
    const operation = findWarmUpOperation(planner.apiSdl);
    if (operation !== undefined) planner.plan(operation);
  } catch {
    // It was only for the warmth: an operation that clients ask for will fail for itself.
  }
}

function toFailure(task: Task, error: unknown): TaskAnswer {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (task.kind === "plan" && tooComplex.test(message)) return { kind: "too-complex", message };
  return { kind: "failed", message, stack };
}
