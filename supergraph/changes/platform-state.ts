import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@tributary/kit/openapi/schema-book";
import type { GraphState } from "./change-places.ts";
import { composeSubgraphs } from "../compose.ts";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { GitBase } from "./git-base.ts";
import { composeDocuments, documentFile } from "../documents/compose-documents.ts";
import type { DocumentsByVersion } from "./openapi-changes.ts";
import { readOwnership } from "../composition/ownership.ts";
import type { RouteState } from "./route-changes.ts";
import { readRoutes } from "../routes/route-sources.ts";
import type { Route } from "../routes/routes.ts";
import { mergeRoutes } from "../routes/routes.ts";
import type { Subgraph } from "../subgraphs.ts";
import { formerSubgraph, readSubgraphs } from "../subgraphs.ts";

/** Everything that clients depend on, at one commit or on disk: the graph, the routes and their OpenAPI documents. */
export interface PlatformState {
  readonly graph: GraphState;
  readonly routes: RouteState;
  readonly documents: DocumentsByVersion;
  readonly subgraphs: readonly Subgraph[];
}

/** Composes the files on disk for `npm run check`, or returns every composition error. */
export async function readCurrentState(
  root: string,
  subgraphs: readonly Subgraph[],
): Promise<
  | { readonly ok: true; readonly state: PlatformState }
  | { readonly ok: false; readonly errors: readonly CompositionError[] }
> {
  const sources = readSubgraphs(root, subgraphs);
  const composition = composeSubgraphs(sources);
  const merged = mergeRoutes(await readRoutes(root, subgraphs));
  if (!composition.ok || !merged.ok) {
    return { ok: false, errors: [...(composition.ok ? [] : composition.errors), ...(merged.ok ? [] : merged.errors)] };
  }
  const described = await composeDocuments(root, { partial: false }, subgraphs);
  if (!described.ok) return described;
  const texts = new Map(described.files.map(({ path, content }) => [path, content]));
  const read = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
  const documents = parseDocuments(merged.routes, (path) => texts.get(path));
  const graph = { ...composition, sources };
  return { ok: true, state: { graph, routes: { routes: merged.routes, read }, documents, subgraphs } };
}

/**
 * Reads the generated files of a base commit, without composing them. Subgraphs that exist only there get the conventional folder and owner.
 * @returns undefined if the commit has no supergraph/api.graphql.
 * @throws Error if it has this file, but not supergraph.graphql or routes.json.
 */
export function readBaseState(base: GitBase, subgraphs: readonly Subgraph[]): PlatformState | undefined {
  const apiSdl = base.read("supergraph/api.graphql");
  if (apiSdl === undefined) return undefined;
  const supergraphSdl = readCommitted(base, "supergraph/supergraph.graphql");
  const { routes } = JSON.parse(readCommitted(base, "supergraph/routes.json")) as { readonly routes: readonly Route[] };
  const currentNames = new Set(subgraphs.map(({ name }) => name));
  const former = readOwnership(supergraphSdl)
    .subgraphs.filter((name) => !currentNames.has(name))
    .map(formerSubgraph);
  const baseSubgraphs = [...subgraphs, ...former];
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

/** The OpenAPI documents of all versions that have a route. A version without a document is left out. */
function parseDocuments(routes: readonly Route[], read: (path: string) => string | undefined): DocumentsByVersion {
  const versions = [...new Set(routes.flatMap(({ versions }) => versions))].toSorted((a, b) => a - b);
  return new Map(
    versions.flatMap((version) => {
      const text = read(documentFile(version));
      return text === undefined ? [] : [[version, JSON.parse(text) as Json] as const];
    }),
  );
}

function readCommitted(base: GitBase, path: string): string {
  const text = base.read(path);
  if (text === undefined) throw new Error(`${base.name} has supergraph/api.graphql, but not ${path}.`);
  return text;
}
