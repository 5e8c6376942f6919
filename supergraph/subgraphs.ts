import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { External } from "./contract/external.ts";

export interface Subgraph {
  /** In the supergraph (`join__Graph`) and in routes.json. */
  readonly name: string;
  /** Relative to the repository's root. */
  readonly folder: string;
  /** The gateway's variable SUBGRAPH_URL_<NAME> replaces it. */
  readonly url: string;
  /** The team. */
  readonly owner: string;
  /** Of a service whose folder has only its contract: its REST routes are in its OpenAPI document. */
  readonly external?: External | undefined;
}

export interface SubgraphSource extends Subgraph {
  /** Relative to the repository's root, as errors print it. */
  readonly file: string;
  readonly sdl: string | undefined;
}

/** Owner of changes that belong to no single service's team. */
export const platformTeam = "@tributary/platform-team";

/** A missing file is an error of composition, so that an accidentally deleted schema does not silently leave the supergraph. */
export function readSubgraphs(root: string, subgraphs: readonly Subgraph[]): SubgraphSource[] {
  return subgraphs.map((subgraph) => {
    const file = `${subgraph.folder}/schema.graphql`;
    const path = join(root, file);
    const sdl = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    return { ...subgraph, file, sdl };
  });
}

/** One that was removed from the repository, with the conventional folder and owner. */
export function formerSubgraph(name: string): Subgraph {
  return { name, folder: `services/${name}`, url: "http://127.0.0.1:0/graphql", owner: `@tributary/${name}-team` };
}
