// Stages 3 and 4 of 5 as they are today: stock Apollo Gateway plans, fetches through our data sources and joins.
// Our own executor takes this file's place; what stands around it stays.
import { ApolloGateway } from "@apollo/gateway";
import { buildASTSchema, type GraphQLSchema, parse } from "graphql";
import { createLibraryLogger, type Observe } from "../telemetry/observations.ts";
import { createDataSource } from "./data-source.ts";
import type { SubgraphClient } from "./subgraph-client.ts";

type LoadedGateway = Awaited<ReturnType<ApolloGateway["load"]>>;

export interface Engine {
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
  readonly execute: LoadedGateway["executor"];
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly supergraphSdl: string;
  readonly clientOf: (service: string) => SubgraphClient;
  readonly observe: Observe;
}

/**
 * Loads one supergraph. Blocks the event loop for 16 to 133 ms; the worker for that comes with our own executor.
 * @throws Error when the supergraph cannot be used.
 */
export async function createEngine({ supergraphSdl, clientOf, observe }: EngineOptions): Promise<Engine> {
  const schema = buildASTSchema(parse(supergraphSdl, { noLocation: true }), {
    assumeValid: true,
    assumeValidSDL: true,
  });
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => createDataSource({ client: clientOf(name), schema, observe }),
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    validateSupergraph: true,
    debug: false,
    __exposeQueryPlanExperimental: false,
    logger: createLibraryLogger(observe),
  });
  const { schema: apiSchema, executor } = await gateway.load();
  return { apiSchema, execute: executor, close: () => gateway.stop() };
}
