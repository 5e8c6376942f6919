import { parse, printSchema } from "graphql";
import { type ApolloLaneOptions, createApolloLane } from "../lanes/apollo.ts";
import { createEngine } from "../run/engine.ts";
import { createSubgraphClient, type SubgraphClient } from "../run/subgraph-client.ts";
import { say } from "../shape/say.ts";
import type { Observe } from "../telemetry/observations.ts";
import { readAddresses } from "./addresses.ts";
import type { Generation } from "./generations.ts";

export interface GenerationOptions extends Omit<ApolloLaneOptions, "engine"> {
  /** By variable name, see addresses.ts. */
  readonly subgraphUrls: Readonly<Record<string, readonly string[]>>;
  readonly subgraphTimeoutMs: number;
  readonly subgraphBodyBytesMax: number;
}

/** @throws Error when the supergraph cannot be used; nothing is left behind then. */
export async function buildGeneration(supergraphSdl: string, o: GenerationOptions): Promise<Generation> {
  const clients = createClients(supergraphSdl, o);
  const clientOf = (service: string): SubgraphClient => {
    const client = clients.get(service);
    if (!client) throw new Error(`The supergraph names no subgraph ${service}`);
    return client;
  };
  const engine = await createEngine({
    supergraphSdl,
    clientOf,
    observe: o.observe,
    say: (result, scope) => say(result, scope, o.observe),
  });
  const lane = await createApolloLane({ ...o, engine });
  return {
    apiSdl: printSchema(engine.apiSchema),
    subgraphs: [...clients.keys()],
    lane,
    async close() {
      await lane.close();
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
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
