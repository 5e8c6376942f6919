import { setImmediate } from "node:timers/promises";
import { buildASTSchema, type DocumentNode, parse } from "graphql";
import { buildSupergraphSchema, createEngine, type Engine } from "./supergraph-stages.ts";
import { type Admission, type AdmissionOptions, createAdmission } from "./supergraph/apollo-validation.ts";
import { createOperations } from "./parse/operation-store.ts";
import type { AdmittedOperation } from "./parse/validated-operation.ts";
import { limitCustomScalars } from "./parse/numeric-input.ts";
import { createPlanCache, type PlanCache } from "./plan/plan-cache.ts";
import type { SupergraphPlanner } from "./plan/planner/supergraph-planner.ts";
import type { PlannerPool } from "./plan/planner/planner-pool.ts";
import { createSubgraphClient, type SubgraphClient } from "./run/subgraph-client.ts";
import type { WriteCount } from "./run/write-counts.ts";
import type { FetchObserver } from "./telemetry/fetch-observer.ts";
import type { Observe } from "./telemetry/observation-log.ts";
import { type Addresses, readAddresses, type SubgraphOverrides } from "./supergraph/addresses.ts";
import type { Generation, UsedOperation } from "./supergraph/generations.ts";

export interface GenerationOptions extends Omit<AdmissionOptions, "apiSchema" | "operations">, SubgraphOverrides {
  readonly subgraphTimeoutMs: number;
  readonly planner: PlannerPool;
  /** Bounds of the caches of plans and of operations. */
  readonly planning: {
    readonly plansMax: number;
    readonly plansBytesMax: number;
    readonly operationsBytesMax: number;
  };
  readonly fetchSharing: boolean;
  readonly introspectionBytesMax: number;
  /** Labels of progressive `@override`, other than `percent(n)`, that are true. */
  readonly overrideLabels: readonly string[];
  readonly subgraphBodyBytesMax: number;
  /** By subgraph; the same for all generations. */
  readonly writesOf: (service: string) => WriteCount;
  /** Undefined where nobody watches. */
  readonly fetches?: FetchObserver | undefined;
}

type Clients = ReadonlyMap<string, SubgraphClient>;

const documentsMax = 10_000;

/** @throws Error when the supergraph cannot be used; nothing is left behind then. */
export async function buildGeneration(supergraphSdl: string, o: GenerationOptions): Promise<Generation> {
  const planner = await o.planner.load(supergraphSdl);
  let clients: Clients = new Map();
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
    const { plansMax, plansBytesMax: bytesMax } = o.planning;
    const plans = createPlanCache({ planner, plansMax, bytesMax, observe: o.observe });
    const unchecked = new Set(subgraphs.flatMap(({ service, checksKeys }) => (checksKeys ? [] : service)));
    const engine = await buildEngine(supergraph, { planner, plans, clients, unchecked }, o);
    const about = { apiSdl: planner.apiSdl, subgraphs: [...clients.keys()], sizeOfPlans: plans.size };
    return await openDoors({ ...about, engine, release }, o);
  } catch (error) {
    await release();
    throw error;
  }
}

interface EngineParts {
  readonly planner: SupergraphPlanner;
  readonly plans: PlanCache;
  readonly clients: Clients;
  /** Subgraphs whose entities' keys are not checked. */
  readonly unchecked: ReadonlySet<string>;
}

/**
 * Each schema is built in a turn of the loop of its own: on the main thread nothing takes longer than that, 5 ms for 50 KB and 15 ms
 * for 200 KB. The planner has validated the supergraph.
 */
async function buildEngine(
  supergraph: DocumentNode,
  { planner, plans, clients, unchecked }: EngineParts,
  o: GenerationOptions,
): Promise<Engine> {
  await setImmediate();
  const supergraphSchema = buildSupergraphSchema(supergraph);
  await setImmediate();
  const apiSchema = buildASTSchema(parse(planner.apiSdl, { noLocation: true }), { assumeValidSDL: true });
  limitCustomScalars(apiSchema);
  await setImmediate();
  const clientOf = (service: string): SubgraphClient => {
    const client = clients.get(service);
    if (!client) throw new Error(`The supergraph names no subgraph ${service}`);
    return client;
  };
  return createEngine({
    apiSchema,
    supergraphSchema,
    aliasPrefix: planner.aliasPrefix,
    plan: plans.plan,
    introspection: {
      standard: planner.introspection,
      executeInThread: planner.introspect,
      bytesMax: o.introspectionBytesMax,
    },
    overrideLabels: planner.overrideLabels,
    enabledLabels: o.overrideLabels,
    clientOf,
    checksKeys: (service) => !unchecked.has(service),
    fetchSharing: o.fetchSharing,
    fetches: o.fetches,
    observe: o.observe,
  });
}

interface Built extends Pick<Generation, "apiSdl" | "subgraphs" | "engine" | "sizeOfPlans"> {
  release(): Promise<void>;
}

async function openDoors({ release, ...built }: Built, o: GenerationOptions): Promise<Generation> {
  const { engine } = built;
  const onEvicted = () => o.observe({ kind: "cache-evicted", cache: "documents" });
  const operations = createOperations({ documentsMax, bytesMax: o.planning.operationsBytesMax, onEvicted });
  const { apiSchema } = engine;
  const admission = await createAdmission({ ...o, apiSchema, operations });
  return {
    ...built,
    admission,
    operations,
    listMostUsed: (operationsMax) =>
      operations.listMostUsed(operationsMax).map(({ source, operationName, admitted }) => ({
        source,
        operationName,
        conditions: engine.conditionsOf(admitted),
      })),
    warm: (used, signal) => warm(used, signal, admission, engine),
    retire: operations.clear,
    async close() {
      await admission.close();
      await release();
    },
  };
}

/** Admits each operation as if a client had sent it, and prepares its plans. Nothing is fetched. */
async function warm(
  used: readonly UsedOperation[],
  signal: AbortSignal,
  admission: Admission,
  engine: Engine,
): Promise<void> {
  for (const { source, operationName, conditions } of used) {
    // Requests come between.
    await setImmediate();
    if (signal.aborted) return;
    const graphql = { query: source, operationName, variables: undefined, extensions: undefined };
    const question = { method: "POST", answerType: "application/json", graphql } as const;
    const prepare = async (admitted: AdmittedOperation) => {
      for (const variables of conditions) await engine.prepare(admitted, variables);
      return { status: 200, contentType: "", body: Buffer.of() };
    };
    // What fails here fails for those who ask for it, and they are told.
    await admission.admit(question, prepare).catch(() => undefined);
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

function reportUnusedLabels(overrideLabels: SupergraphPlanner["overrideLabels"], o: GenerationOptions): void {
  const used = new Set([...overrideLabels.values()].flat());
  for (const label of o.overrideLabels)
    if (!used.has(label)) o.observe({ kind: "override-label-without-field", label });
}

function reportDirectives({ federation, custom }: SupergraphPlanner["ineffectiveDirectives"], observe: Observe): void {
  if (federation.length > 0) observe({ kind: "directives-without-effect", directives: federation });
  if (custom.length > 0) observe({ kind: "custom-directives", directives: custom });
}

function reportAddresses(observe: Observe, { subgraphs, unusedOverrides }: Addresses): void {
  for (const { service, urls } of subgraphs)
    if (urls.length === 0) observe({ kind: "subgraph-without-address", service });
  for (const variable of unusedOverrides) observe({ kind: "override-without-subgraph", variable });
}
