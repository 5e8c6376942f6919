import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A service whose schema is part of the supergraph. */
export interface Subgraph {
  /** Name in the supergraph (`join__Graph`), and the service's name in routes.json. */
  readonly name: string;
  /** Folder relative to the repository's root; contains schema.graphql and src/rest/routes.ts. */
  readonly folder: string;
  /** Address of the GraphQL endpoint in the supergraph; the gateway's variable SUBGRAPH_URL_<NAME> replaces it. */
  readonly url: string;
  /** Its team; composition errors name it. */
  readonly owner: string;
}

/** A subgraph with the text of its schema; `sdl` is undefined if the file is missing. */
export interface SubgraphSource extends Subgraph {
  /** Path of schema.graphql relative to the repository's root, as errors print it. */
  readonly file: string;
  readonly sdl: string | undefined;
}

/** Owner of changes that belong to no single service's team. */
export const platformTeam = "@tributary/platform-team";

/**
 * Reads each subgraph's schema.graphql below `root`. A missing file is not an error here: composition reports it with the
 * owner, so that a schema that was deleted by accident does not silently leave the supergraph.
 */
export function readSubgraphs(root: string, subgraphs: readonly Subgraph[]): SubgraphSource[] {
  return subgraphs.map((subgraph) => {
    const file = `${subgraph.folder}/schema.graphql`;
    const path = join(root, file);
    const sdl = existsSync(path) ? readFileSync(path, "utf8") : undefined;
    return { ...subgraph, file, sdl };
  });
}

/** A subgraph that was removed from the repository, with the conventional folder and owner for messages about its former schema; `url` is unused. */
export function formerSubgraph(name: string): Subgraph {
  return { name, folder: `services/${name}`, url: "http://127.0.0.1:0/graphql", owner: `@tributary/${name}-team` };
}
