import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@tributary/kit/json/json";
import type { GraphState } from "./change-places.ts";
import { composeGraphAndRoutes } from "../compose.ts";
import { printWarnings, type ValueOrErrors } from "../composition/composition-errors.ts";
import type { GitBase } from "./git-base.ts";
import { composeDocuments, documentFile } from "../documents/compose-documents.ts";
import type { DocumentsByVersion } from "./openapi-changes.ts";
import { readOwnership } from "../composition/ownership.ts";
import type { RouteState } from "./route-changes.ts";
import type { Route } from "../routes/routes.ts";
import { formerSubgraph, readSubgraphs, type Subgraph } from "../subgraphs.ts";

/** Everything that clients depend on. */
export interface PlatformState {
  readonly graph: GraphState;
  readonly routes: RouteState;
  readonly documents: DocumentsByVersion;
  readonly subgraphs: readonly Subgraph[];
}

export async function readCurrentState(
  root: string,
  subgraphs: readonly Subgraph[],
): Promise<ValueOrErrors<{ readonly state: PlatformState; readonly warnings: readonly string[] }>> {
  const sources = readSubgraphs(root, subgraphs);
  const composed = await composeGraphAndRoutes(root, sources);
  if (!composed.ok) return composed;
  const { graph, routes } = composed;
  const generated = await composeDocuments(root, subgraphs);
  if (!generated.ok) return generated;
  const generatedTexts = new Map(generated.files.map(({ path, content }) => [path, content]));
  const state: PlatformState = {
    graph: { apiSdl: graph.apiSdl, supergraphSdl: graph.supergraphSdl, sources },
    routes: { routes, read: (path) => readFromDisk(join(root, path)) },
    documents: parseDocuments(routes, (path) => generatedTexts.get(path)),
    subgraphs,
  };
  return { ok: true, state, warnings: printWarnings(graph.hints) };
}

function readFromDisk(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Subgraphs that exist only there get the conventional folder and owner. @returns undefined if the commit has no supergraph/api.graphql. */
export function readBaseState(
  base: Pick<GitBase, "name" | "read">,
  subgraphs: readonly Subgraph[],
): PlatformState | undefined {
  const apiSdl = base.read("supergraph/api.graphql");
  if (apiSdl === undefined) return undefined;
  const supergraphSdl = readCommitted(base, "supergraph/supergraph.graphql");
  const { routes } = JSON.parse(readCommitted(base, "supergraph/routes.json")) as { readonly routes: readonly Route[] };
  const currentNames = new Set(subgraphs.map(({ name }) => name));
  const { subgraphs: baseNames } = readOwnership(supergraphSdl);
  const formerNames = baseNames.filter((name) => !currentNames.has(name));
  const baseSubgraphs = [...subgraphs, ...formerNames.map(formerSubgraph)];
  const sources = baseSubgraphs.map((subgraph) => {
    const file = `${subgraph.folder}/schema.graphql`;
    return { ...subgraph, file, sdl: base.read(file) };
  });
  return {
    graph: { apiSdl, supergraphSdl, sources },
    routes: { routes, read: (path) => base.read(path) },
    documents: parseDocuments(routes, (path) => base.read(path)),
    subgraphs: baseSubgraphs,
  };
}

function parseDocuments(routes: readonly Route[], read: (path: string) => string | undefined): DocumentsByVersion {
  const versions = new Set(routes.flatMap((route) => route.versions));
  const documents = new Map<number, Json>();
  for (const version of [...versions].toSorted((a, b) => a - b)) {
    const text = read(documentFile(version));
    if (text !== undefined) documents.set(version, JSON.parse(text) as Json);
  }
  return documents;
}

function readCommitted(base: Pick<GitBase, "name" | "read">, path: string): string {
  const text = base.read(path);
  if (text === undefined) throw new Error(`${base.name} has supergraph/api.graphql, but not ${path}.`);
  return text;
}
