// Builds a generation (generations.ts), which is everything that belongs to one supergraph: planner, subgraph clients, stages, document
// validation and caches. Called at start and for each new supergraph.
import { setImmediate } from "node:timers/promises";
import { listDeprecatedElements } from "@tributary/kit/federation/deprecated-elements";
import { parse } from "graphql";
import { InvalidOperation } from "../../errors/invalid-operation.ts";
import type { GatewayObserver } from "../../observations.ts";
import { createOperationStore } from "../parse/operation-store.ts";
import { createPlanCache } from "../plan/plan-cache.ts";
import type { PlannerPool } from "../plan/planner/planner-pool.ts";
import type { SupergraphPlanner } from "../plan/planner/supergraph-planner.ts";
import type { Subgraph } from "../run/fetch/subgraph.ts";
import { createSubgraphClient, type WriteCount } from "../run/fetch/subgraph-client.ts";
import { createSupergraphStages, type StagesOptions, type SupergraphStages } from "./supergraph-stages.ts";
import { readSubgraphs, type SubgraphConfiguration } from "../../subgraph-settings/subgraph-settings.ts";
import {
  type SubgraphConnectionOptions,
  createSubgraphConnections,
  type SubgraphConnections,
} from "./subgraph-connections.ts";
import { type DocumentValidator, type DocumentValidatorOptions, createDocumentValidator } from "./apollo-validation.ts";
import { createDocumentPreparation } from "./document-preparation.ts";
import type { Generation, UsedOperation } from "./generations.ts";

export interface GenerationOptions extends StagesOptions, Pick<SubgraphConnectionOptions, "graceMs"> {
  readonly documents: Omit<DocumentValidatorOptions, "apiSchema" | "operations">;
  /** The same for all generations. */
  readonly writesOf: (service: string) => WriteCount;
  readonly configuration: () => SubgraphConfiguration;
  readonly plannerPool: PlannerPool;
  readonly planning: {
    readonly plansMax: number;
    readonly plansBytesMax: number;
    readonly operationsBytesMax: number;
  };
}

/** @throws Error if the supergraph cannot be used; everything that was started for it is released. */
export async function buildGeneration(supergraphSdl: string, o: GenerationOptions): Promise<Generation> {
  const { observe, planning } = o;
  const planner = await o.plannerPool.load(supergraphSdl);
  let connections: SubgraphConnections | undefined;
  /** Also called if a later step fails. */
  const release = async () => {
    planner.release();
    await connections?.close();
  };
  try {
    const supergraph = parse(supergraphSdl, { noLocation: true });
    const supergraphSubgraphs = readSubgraphs(supergraph);
    const configuration = o.configuration();
    const { of: connect } = (connections = createSubgraphConnections(
      {
        ...o,
        subgraphs: supergraphSubgraphs,
        createClient: (settings) => createSubgraphClient(settings, { writes: o.writesOf(settings.service), observe }),
        onChanged: (settings) => follow([{ settings }], o),
      },
      configuration,
    ));
    const subgraphs = connect(configuration);
    reportUnusedLabels(planner.overrideLabels, o);
    reportDirectives(planner.ineffectiveDirectives, observe);
    const plans = createPlanCache({ planner, ...planning, observe });
    const stages = await createSupergraphStages({ supergraph, planner, plan: plans.plan, subgraphs }, o);
    const deprecatedElements = listDeprecatedElements(stages.apiSchema);
    if (deprecatedElements.size > 0) observe({ kind: "deprecated-elements", elements: [...deprecatedElements.keys()] });
    const operations = createOperationStore({
      apiSchema: stages.apiSchema,
      bytesMax: planning.operationsBytesMax,
      rootFieldPriorities: planner.rootFieldPriorities,
      deprecatedElements,
      onEvicted: () => observe({ kind: "cache-evicted", cache: "documents" }),
    });
    const validation = await createDocumentValidator({ ...o.documents, apiSchema: stages.apiSchema, operations });
    const documents = createDocumentPreparation({ validation, stages, operations, observe });
    return {
      apiSdl: planner.apiSdl,
      supergraph,
      subgraphs: supergraphSubgraphs,
      connect,
      sizeOfPlans: plans.size,
      stages,
      validation,
      operations,
      documents,
      listMostUsed(operationsMax) {
        const mostUsed = operations.listMostUsed(operationsMax);
        return mostUsed.map(({ operation, ...used }) => ({ ...used, conditions: stages.conditionsOf(operation) }));
      },
      warm: (used, signal) => warm(used, signal, validation, stages),
      activate: () => follow(connect(o.configuration()).values(), o),
      retire() {
        documents.stop();
        operations.clear();
        o.entityCache?.forgetWholes();
      },
      async close() {
        documents.stop();
        await validation.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The entity cache then has results of these settings only. */
function follow(
  subgraphs: Iterable<Pick<Subgraph, "settings">>,
  { entityCache }: Pick<GenerationOptions, "entityCache">,
) {
  for (const { settings } of subgraphs) entityCache?.of(settings.service)?.follow(settings);
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
