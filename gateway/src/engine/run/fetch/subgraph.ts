// Stage 4 of 5: run. A subgraph as a request sees it, from its arrival to its end.
import type { SubgraphSettings } from "../../../subgraph-settings/subgraph-settings.ts";
import type { SubgraphClient } from "./subgraph-client.ts";

/** A reload keeps the object if its own settings are equal, so it is compared by identity. `client` stays unless the settings change that the client has. */
export interface Subgraph {
  readonly settings: SubgraphSettings;
  readonly client: SubgraphClient;
}

/** By the name in the supergraph. */
export type Subgraphs = ReadonlyMap<string, Subgraph>;

/** @throws Error: a bug, since plans name subgraphs of their supergraph only. */
export function requireSubgraph(subgraphs: Subgraphs, service: string): Subgraph {
  const subgraph = subgraphs.get(service);
  if (!subgraph) throw new Error(`The supergraph has no subgraph ${service}`);
  return subgraph;
}
