import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GraphState } from "./change-places.ts";
import { composeSubgraphs } from "./compose.ts";
import type { CompositionError } from "./composition-errors.ts";
import type { GitBase } from "./git-base.ts";
import { readOwnership } from "./ownership.ts";
import type { RouteState } from "./route-changes.ts";
import { readRoutes } from "./route-sources.ts";
import type { Route } from "./routes.ts";
import { mergeRoutes } from "./routes.ts";
import type { Subgraph } from "./subgraphs.ts";
import { formerSubgraph, readSubgraphs } from "./subgraphs.ts";

/** What clients can rely on at one time: the graph, the routes, and who owned what. */
export interface PlatformState {
  readonly graph: GraphState;
  readonly routes: RouteState;
  readonly teams: readonly Subgraph[];
}

/** Composes what is on disk now; every reason why it does not compose otherwise. */
export async function readPresentState(
  root: string,
  teams: readonly Subgraph[],
): Promise<
  | { readonly ok: true; readonly state: PlatformState }
  | { readonly ok: false; readonly errors: readonly CompositionError[] }
> {
  const sources = readSubgraphs(root, teams);
  const composition = composeSubgraphs(sources);
  const merged = mergeRoutes(await readRoutes(root, teams));
  if (!composition.ok || !merged.ok) {
    return { ok: false, errors: [...(composition.ok ? [] : composition.errors), ...(merged.ok ? [] : merged.errors)] };
  }
  const read = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
  return { ok: true, state: { graph: { ...composition, sources }, routes: { routes: merged.routes, read }, teams } };
}

/** Reads the committed state of a base; undefined when nothing was composed there yet. Throws when it is there in half. */
export function readBaseState(base: GitBase, teams: readonly Subgraph[]): PlatformState | undefined {
  const apiSdl = base.read("supergraph/api.graphql");
  if (apiSdl === undefined) return undefined;
  const supergraphSdl = readCommitted(base, "supergraph/supergraph.graphql");
  const { routes } = JSON.parse(readCommitted(base, "supergraph/routes.json")) as { readonly routes: readonly Route[] };
  const known = new Set(teams.map(({ name }) => name));
  const former = readOwnership(supergraphSdl)
    .subgraphs.filter((name) => !known.has(name))
    .map(formerSubgraph);
  const baseTeams = [...teams, ...former];
  const sources = baseTeams.map((team) => {
    const file = `${team.folder}/schema.graphql`;
    return { ...team, file, sdl: base.read(file) };
  });
  return {
    graph: { apiSdl, supergraphSdl, sources },
    routes: { routes, read: (path) => base.read(path) },
    teams: baseTeams,
  };
}

function readCommitted(base: GitBase, path: string): string {
  const text = base.read(path);
  if (text === undefined) throw new Error(`${base.name} has supergraph/api.graphql, but not ${path}.`);
  return text;
}
