// Builds a generation (supergraph/generations.ts), which is everything that belongs to one supergraph: planner, subgraph clients, stages, document
// validation and caches. Called at start and for each new supergraph.
import { setImmediate } from "node:timers/promises";
import { buildASTSchema, type DocumentNode, parse } from "graphql";
import type { GatewayObserver } from "./observations.ts";
import { addRangeCheckToCustomScalars } from "./parse/numeric-input.ts";
import { createOperationStore } from "./parse/operation-store.ts";
import type { ValidatedOperation } from "./parse/validated-operation.ts";
import { createPlanCache, type PlanCache } from "./plan/plan-cache.ts";
import type { PlannerPool } from "./plan/planner/planner-pool.ts";
import type { SupergraphPlanner } from "./plan/planner/supergraph-planner.ts";
import type { EntityCache } from "./run/caching/entity-cache.ts";
import { createSubgraphClient, type SubgraphClient, type WriteCount } from "./run/fetch/subgraph-client.ts";
import { buildSupergraphSchema, createSupergraphStages, type SupergraphStages } from "./supergraph-stages.ts";
import { type Addresses, readAddresses, type SubgraphSettings } from "./supergraph/addresses.ts";
import {
  type DocumentValidator,
  type DocumentValidatorOptions,
  createDocumentValidator,
} from "./supergraph/apollo-validation.ts";
import type { Generation, UsedOperation } from "./supergraph/generations.ts";
import type { FetchObserver } from "./telemetry/fetch-observer.ts";

export interface GenerationOptions
  extends Omit<DocumentValidatorOptions, "apiSchema" | "operations">, SubgraphSettings {
  readonly subgraphTimeoutMs: number;
  readonly plannerPool: PlannerPool;
  /** Bounds of the caches of plans and of operations. */
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
  readonly subgraphBodyBytesMax: number;
  /** The count of mutations to a subgraph; the same for all generations. */
  readonly writesOf: (service: string) => WriteCount;
  /** Undefined if metrics and traces are off. */
  readonly fetchObserver?: FetchObserver | undefined;
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
    const addresses = readAddresses(supergraph, o);
    const { subgraphs } = addresses;
    reportAddresses(o.observe, addresses);
    reportUnusedLabels(planner.overrideLabels, o);
    reportDirectives(planner.ineffectiveDirectives, o.observe);
    clients = createClients(subgraphs, o);
    const plans = createPlanCache({
      planner,
      plansMax: o.planning.plansMax,
      bytesMax: o.planning.plansBytesMax,
      observe: o.observe,
    });
    const unchecked = subgraphs.filter(({ checksKeys }) => !checksKeys);
    const uncheckedSubgraphs = new Set(unchecked.map(({ service }) => service));
    const stages = await buildStages(supergraph, { planner, plans, clients, uncheckedSubgraphs }, o);
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
  /** Subgraphs with SUBGRAPH_KEY_CHECK_<NAME>=off: the keys of their entities are not checked. */
  readonly uncheckedSubgraphs: ReadonlySet<string>;
}

/**
 * Builds each schema in its own iteration of the event loop, so that requests are served in between: a schema takes 5 ms for a supergraph of 50 KB
 * and 15 ms for 200 KB. The SDL is not validated again: the planner has validated the supergraph.
 */
async function buildStages(
  supergraph: DocumentNode,
  { planner, plans, clients, uncheckedSubgraphs }: StagesParts,
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
    checksKeys: (service) => !uncheckedSubgraphs.has(service),
    fetchSharing: o.fetchSharing,
    entityCache: o.entityCache,
    fetchObserver: o.fetchObserver,
    observe: o.observe,
  });
}

/** What a generation has before its documents can be validated. */
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
  // `o` has the other options of the validator.
  const validation = await createDocumentValidator({ ...o, apiSchema: stages.apiSchema, operations });
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
    const request = { method: "POST", responseType: "application/json", graphql, client: "" } as const;
    const prepare = async (operation: ValidatedOperation) => {
      for (const variables of conditions) await stages.prepare(operation, variables);
      // `validate` requires a response; this one is discarded.
      return { status: 200, contentType: "", body: Buffer.of() };
    };
    // An operation that fails here also fails for the client that sends it next, and is reported then.
    await validation.validate(request, prepare).catch(() => undefined);
  }
}

function createClients(subgraphs: Addresses["subgraphs"], o: GenerationOptions): Clients {
  return new Map(
    subgraphs.map(({ service, urls }) => [
      service,
      createSubgraphClient({
        name: service,
        urls,
        timeoutMs: o.subgraphTimeoutMs,
        bodyBytesMax: o.subgraphBodyBytesMax,
        writes: o.writesOf(service),
        observe: o.observe,
      }),
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

function reportAddresses(observe: GatewayObserver, { subgraphs, unknownVariables }: Addresses): void {
  const withoutAddress = subgraphs.filter(({ urls }) => urls.length === 0);
  for (const { service } of withoutAddress) observe({ kind: "subgraph-without-address", service });
  for (const variable of unknownVariables) observe({ kind: "variable-without-subgraph", variable });
}
