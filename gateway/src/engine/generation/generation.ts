// Builds a generation (supergraph/generations.ts), which is everything that belongs to one supergraph: planner, subgraph clients, stages, document
// validation and caches. Called at start and for each new supergraph.
import { setImmediate } from "node:timers/promises";
import { buildASTSchema, type DocumentNode, parse } from "graphql";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import type { GatewayObserver } from "../../observations.ts";
import { addRangeCheckToCustomScalars } from "../parse/numeric-input.ts";
import { createOperationStore } from "../parse/operation-store.ts";
import { createPlanCache, type PlanCache } from "../plan/plan-cache.ts";
import type { PlannerPool } from "../plan/planner/planner-pool.ts";
import type { SupergraphPlanner } from "../plan/planner/supergraph-planner.ts";
import type { EntityCache } from "../run/caching/entity-cache.ts";
import { createSubgraphClient, type SubgraphClient, type WriteCount } from "../run/fetch/subgraph-client.ts";
import { buildSupergraphSchema, createSupergraphStages, type SupergraphStages } from "./supergraph-stages.ts";
import {
  type ResolvedSubgraphs,
  resolveSubgraphs,
  type SubgraphSettings,
} from "../../subgraph-settings/subgraph-settings.ts";
import type { SubgraphVariables } from "../../subgraph-settings/subgraph-variables.ts";
import { type DocumentValidator, type DocumentValidatorOptions, createDocumentValidator } from "./apollo-validation.ts";
import type { Generation, UsedOperation } from "./generations.ts";
import type { FetchObserver } from "../../telemetry/fetch-observer.ts";

export interface GenerationOptions {
  readonly documents: Omit<DocumentValidatorOptions, "apiSchema" | "operations">;
  readonly subgraphs: SubgraphVariables;
  readonly plannerPool: PlannerPool;
  readonly planning: {
    readonly plansMax: number;
    readonly plansBytesMax: number;
    readonly operationsBytesMax: number;
  };
  readonly fetchSharing: boolean;
  /** The same for all generations; undefined if it is off for all subgraphs. */
  readonly entityCache?: EntityCache | undefined;
  readonly introspectionBytesMax: number;
  /** Labels of progressive `@override`, other than `percent(n)`, that are true. */
  readonly overrideLabels: readonly string[];
  /** The same for all generations. */
  readonly writesOf: (service: string) => WriteCount;
  readonly fetchObserver?: FetchObserver | undefined;
  readonly observe: GatewayObserver;
}

type Clients = ReadonlyMap<string, SubgraphClient>;

/** Documents in the operation store of a generation; their memory has its own limit (OPERATIONS_BYTES_MAX). */
const documentsMax = 10_000;

/** @throws Error if the supergraph cannot be used; everything that was started for it is released. */
export async function buildGeneration(supergraphSdl: string, o: GenerationOptions): Promise<Generation> {
  const planner = await o.plannerPool.load(supergraphSdl);
  let clients: Clients = new Map();
  /** Also called if a later step fails. */
  const release = async () => {
    planner.release();
    await Promise.all([...clients.values()].map((client) => client.close()));
  };
  try {
    const supergraph = parse(supergraphSdl, { noLocation: true });
    const resolved = resolveSubgraphs(supergraph, o.subgraphs);
    const { subgraphs } = resolved;
    reportSubgraphs(o.observe, resolved);
    reportUnusedLabels(planner.overrideLabels, o);
    reportDirectives(planner.ineffectiveDirectives, o.observe);
    clients = createClients(subgraphs, o);
    const plans = createPlanCache({
      planner,
      plansMax: o.planning.plansMax,
      bytesMax: o.planning.plansBytesMax,
      observe: o.observe,
    });
    const stages = await buildStages(supergraph, { planner, plans, clients, subgraphs }, o);
    const built: WithoutValidation = {
      apiSdl: planner.apiSdl,
      subgraphs: [...clients.keys()],
      sizeOfPlans: plans.size,
      stages,
      release,
    };
    return await addValidation(built, planner, o);
  } catch (error) {
    await release();
    throw error;
  }
}

interface StagesParts {
  readonly planner: SupergraphPlanner;
  readonly plans: PlanCache;
  readonly clients: Clients;
  readonly subgraphs: readonly SubgraphSettings[];
}

/**
 * Builds each schema in its own iteration of the event loop, so that requests are served in between: a schema takes 5 ms for a supergraph of 50 KB
 * and 15 ms for 200 KB. The SDL is not validated again: the planner has validated the supergraph.
 */
async function buildStages(
  supergraph: DocumentNode,
  { planner, plans, clients, subgraphs }: StagesParts,
  o: GenerationOptions,
): Promise<SupergraphStages> {
  await setImmediate();
  const supergraphSchema = buildSupergraphSchema(supergraph);
  await setImmediate();
  const apiSchema = buildASTSchema(parse(planner.apiSdl, { noLocation: true }), { assumeValidSDL: true });
  addRangeCheckToCustomScalars(apiSchema);
  await setImmediate();
  const clientOf = (service: string): SubgraphClient => {
    const client = clients.get(service);
    if (!client) throw new Error(`The supergraph has no subgraph ${service}`);
    return client;
  };
  const unchecked = new Set(subgraphs.filter(({ checksKeys }) => !checksKeys).map(({ service }) => service));
  return createSupergraphStages({
    apiSchema,
    supergraphSchema,
    aliasPrefix: planner.aliasPrefix,
    plan: plans.plan,
    introspection: {
      standard: planner.introspection,
      executeInWorker: planner.introspect,
      bytesMax: o.introspectionBytesMax,
    },
    overrideLabels: planner.overrideLabels,
    enabledLabels: o.overrideLabels,
    clientOf,
    checksKeys: (service) => !unchecked.has(service),
    fetchSharing: o.fetchSharing,
    entityCache: o.entityCache,
    fetchObserver: o.fetchObserver,
    observe: o.observe,
  });
}

interface WithoutValidation extends Pick<Generation, "apiSdl" | "subgraphs" | "stages" | "sizeOfPlans"> {
  release(): Promise<void>;
}

async function addValidation(
  built: WithoutValidation,
  { rootFieldPriorities }: SupergraphPlanner,
  o: GenerationOptions,
): Promise<Generation> {
  const { apiSdl, subgraphs, sizeOfPlans, stages } = built;
  const onEvicted = () => o.observe({ kind: "cache-evicted", cache: "documents" });
  const bytesMax = o.planning.operationsBytesMax;
  const operations = createOperationStore({ documentsMax, bytesMax, rootFieldPriorities, onEvicted });
  const validation = await createDocumentValidator({ ...o.documents, apiSchema: stages.apiSchema, operations });
  return {
    apiSdl,
    subgraphs,
    sizeOfPlans,
    stages,
    validation,
    operations,
    listMostUsed(operationsMax) {
      const mostUsed = operations.listMostUsed(operationsMax);
      return mostUsed.map(({ source, operationName, operation }) => ({
        source,
        operationName,
        conditions: stages.conditionsOf(operation),
      }));
    },
    warm: (used, signal) => warm(used, signal, validation, stages),
    retire: operations.clear,
    async close() {
      await validation.close();
      await built.release();
    },
  };
}

/** Validates each operation as if a client had sent it, and prepares its plans. Nothing is fetched. */
async function warm(
  used: readonly UsedOperation[],
  signal: AbortSignal,
  validation: DocumentValidator,
  stages: SupergraphStages,
): Promise<void> {
  for (const { source, operationName, conditions } of used) {
    // Requests are served in between.
    await setImmediate();
    if (signal.aborted) return;
    const graphql = { query: source, operationName, variables: undefined, extensions: undefined };
    try {
      const operation = await validation.validate({ method: "POST", graphql });
      if (operation instanceof InvalidOperation) continue;
      for (const variables of conditions) await stages.prepare(operation, variables);
    } catch {
      // An operation that fails here also fails for the client that sends it next, and is reported then.
    }
  }
}

function createClients(subgraphs: readonly SubgraphSettings[], { writesOf, observe }: GenerationOptions): Clients {
  return new Map(
    subgraphs.map((settings) => [
      settings.service,
      createSubgraphClient(settings, { writes: writesOf(settings.service), observe }),
    ]),
  );
}

function reportUnusedLabels(labelsByField: SupergraphPlanner["overrideLabels"], o: GenerationOptions): void {
  const usedLabels = new Set([...labelsByField.values()].flat());
  const unusedLabels = o.overrideLabels.filter((label) => !usedLabels.has(label));
  for (const label of unusedLabels) o.observe({ kind: "override-label-without-field", label });
}

function reportDirectives(
  { federation, custom }: SupergraphPlanner["ineffectiveDirectives"],
  observe: GatewayObserver,
): void {
  if (federation.length > 0) observe({ kind: "directives-without-effect", directives: federation });
  if (custom.length > 0) observe({ kind: "custom-directives", directives: custom });
}

function reportSubgraphs(observe: GatewayObserver, { subgraphs, unknownVariables }: ResolvedSubgraphs): void {
  const withoutAddress = subgraphs.filter(({ urls }) => urls.length === 0);
  for (const { service } of withoutAddress) observe({ kind: "subgraph-without-address", service });
  for (const variable of unknownVariables) observe({ kind: "variable-without-subgraph", variable });
}
