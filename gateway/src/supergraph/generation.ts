import { setImmediate } from "node:timers/promises";
import { buildASTSchema, parse } from "graphql";
import { buildSupergraphSchema, createEngine, type Engine } from "../engine.ts";
import { Refusal } from "../errors.ts";
import { type Admission, type AdmissionOptions, createAdmission } from "../lanes/admission.ts";
import { createOperations } from "../lanes/operations.ts";
import type { AdmittedOperation } from "../parse/admitted-operation.ts";
import { createPlanCache } from "../plan/plan-cache.ts";
import type { LoadedPlanner } from "../plan/planner/loaded-planner.ts";
import type { Planner } from "../plan/planner/planner.ts";
import { createSubgraphClient, type SubgraphClient } from "../run/subgraph-client.ts";
import type { Observe } from "../telemetry/observations.ts";
import { readAddresses } from "./addresses.ts";
import type { Generation, UsedOperation } from "./generations.ts";

export interface GenerationOptions extends Omit<
  AdmissionOptions,
  "apiSchema" | "operations" | "documentsMax" | "documentsBytesMax"
> {
  /** By variable name, see addresses.ts. */
  readonly subgraphUrls: Readonly<Record<string, readonly string[]>>;
  readonly subgraphTimeoutMs: number;
  readonly planner: Planner;
  /** Plans that are kept, and their length as JSON. */
  readonly planning: { readonly plansMax: number; readonly plansBytesMax: number };
  readonly fetchSharing: boolean;
  readonly subgraphBodyBytesMax: number;
}

/** Valid documents that are kept; bytes are about what their syntax trees take. */
const documentBounds = { documentsMax: 10_000, bytesMax: 128_000_000 };

/** @throws Error when the supergraph cannot be used; nothing is left behind then. */
export async function buildGeneration(supergraphSdl: string, o: GenerationOptions): Promise<Generation> {
  const clients = createClients(supergraphSdl, o);
  const planner = await o.planner.load(supergraphSdl);
  try {
    return await assemble(supergraphSdl, planner, clients, o);
  } catch (error) {
    planner.release();
    throw error;
  }
}

async function assemble(
  supergraphSdl: string,
  planner: LoadedPlanner,
  clients: ReadonlyMap<string, SubgraphClient>,
  o: GenerationOptions,
): Promise<Generation> {
  const clientOf = (service: string): SubgraphClient => {
    const client = clients.get(service);
    if (!client) throw new Error(`The supergraph names no subgraph ${service}`);
    return client;
  };
  const engine = await buildEngine(supergraphSdl, planner, clientOf, o);
  const operations = createOperations(documentBounds);
  const { apiSchema } = engine;
  const { documentsMax, bytesMax: documentsBytesMax } = documentBounds;
  const admission = await createAdmission({ ...o, apiSchema, operations, documentsMax, documentsBytesMax });
  return {
    apiSdl: planner.apiSdl,
    subgraphs: [...clients.keys()],
    engine,
    admission,
    operations,
    listMostUsed: (operationsMax) =>
      operations.listMostUsed(operationsMax).map((operation) => ({ ...operation, conditions: {} })),
    warm: (used, signal) => warm(used, signal, admission, engine),
    async close() {
      await admission.close();
      planner.release();
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** The schemas are built in turns of the loop of their own: each blocks it for as long as its text is long. */
async function buildEngine(
  supergraphSdl: string,
  planner: LoadedPlanner,
  clientOf: (service: string) => SubgraphClient,
  { planning, fetchSharing, observe }: GenerationOptions,
): Promise<Engine> {
  await setImmediate();
  const supergraphSchema = buildSupergraphSchema(supergraphSdl);
  await setImmediate();
  const apiSchema = buildASTSchema(parse(planner.apiSdl, { noLocation: true }), { assumeValidSDL: true });
  await setImmediate();
  const { plansMax, plansBytesMax: bytesMax } = planning;
  const { plan } = createPlanCache({ planner, plansMax, bytesMax, observe });
  return createEngine({
    apiSchema,
    supergraphSchema,
    aliasPrefix: planner.aliasPrefix,
    plan,
    clientOf,
    fetchSharing,
    observe,
  });
}

/** Asks for each as a client would, and stops before anything is fetched. */
async function warm(
  used: readonly UsedOperation[],
  signal: AbortSignal,
  admission: Admission,
  engine: Engine,
): Promise<void> {
  for (const { source, operationName, conditions } of used) {
    if (signal.aborted) return;
    const graphql = { query: source, operationName, variables: conditions, extensions: undefined };
    const question = { method: "POST", answerType: "application/json", graphql } as const;
    const prepare = async (admitted: AdmittedOperation) => {
      await engine.explain(admitted, conditions);
      return { status: 200, contentType: "", body: Buffer.of() };
    };
    await admission.admit(question, prepare).catch(leaveOut);
  }
}

function leaveOut(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

function createClients(supergraphSdl: string, o: GenerationOptions): ReadonlyMap<string, SubgraphClient> {
  const { subgraphs, unusedOverrides } = readAddresses(parse(supergraphSdl, { noLocation: true }), o.subgraphUrls);
  reportAddresses(o.observe, subgraphs, unusedOverrides);
  return new Map(
    subgraphs.map(({ service, urls }) => [
      service,
      createSubgraphClient({
        name: service,
        urls,
        timeoutMs: o.subgraphTimeoutMs,
        bodyBytesMax: o.subgraphBodyBytesMax,
        observe: o.observe,
      }),
    ]),
  );
}

function reportAddresses(
  observe: Observe,
  subgraphs: readonly { service: string; urls: readonly string[] }[],
  unusedOverrides: readonly string[],
): void {
  for (const { service, urls } of subgraphs)
    if (urls.length === 0) observe({ kind: "subgraph-without-address", service });
  for (const variable of unusedOverrides) observe({ kind: "override-without-subgraph", variable });
}
