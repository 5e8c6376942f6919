import { composeSchemas, type ComposedGraph } from "./composition/compose-schemas.ts";
import { type ValueOrErrors, printWarnings } from "./composition/composition-errors.ts";
import { combineResults, type GeneratorResult } from "./composition/generated-files.ts";
import { subjectOfApis } from "./documents/api-description.ts";
import { findPriorityProblems } from "./composition/priorities.ts";
import { readRoutes } from "./routes/route-sources.ts";
import { mergeRoutes, printRoutes, type Route } from "./routes/routes.ts";
import { type Descriptors, readDescriptors } from "./services.ts";
import { readSubgraphs, type SubgraphSource } from "./subgraphs.ts";

export const routesFile = "supergraph/routes.json";

const notice = "# Made from the services' schema.graphql by `npm run generate`. Do not edit.\n\n";

/** GraphiQL shows it, in Markdown, at the top of its documentation. */
const graphDescription = `${subjectOfApis}

Begin with a field of \`Query\`. Public data needs no token; the description of a field names the scope and the error codes of any other.`;

/** Adds what only this platform's schemas have. */
export function composeSubgraphs(sources: readonly SubgraphSource[]): ValueOrErrors<ComposedGraph> {
  const graph = composeSchemas(sources, findPriorityProblems, graphDescription);
  if (!graph.ok) return graph;
  return { ...graph, supergraphSdl: notice + graph.supergraphSdl, apiSdl: notice + graph.apiSdl };
}

/** Composes supergraph.graphql, api.graphql and routes.json, without writing them. No file if a descriptor has problems. */
export async function composeRepository(
  root: string,
  { subgraphs, problems }: Pick<Descriptors, "subgraphs" | "problems"> = readDescriptors(root),
): Promise<GeneratorResult> {
  const sources = readSubgraphs(root, subgraphs);
  const results = [composeGraphFiles(sources), toRoutesFile(mergeRoutes(await readRoutes(root, sources)))];
  if (problems.length === 0) return combineResults(results);
  return { ok: false, errors: [...problems, ...results.flatMap((result) => (result.ok ? [] : result.errors))] };
}

function composeGraphFiles(sources: readonly SubgraphSource[]): GeneratorResult {
  const graph = composeSubgraphs(sources);
  if (!graph.ok) return graph;
  const files = [
    { path: "supergraph/supergraph.graphql", content: graph.supergraphSdl },
    { path: "supergraph/api.graphql", content: graph.apiSdl },
  ];
  return { ok: true, files, warnings: printWarnings(graph.hints) };
}

function toRoutesFile(merged: ValueOrErrors<{ readonly routes: readonly Route[] }>): GeneratorResult {
  if (!merged.ok) return merged;
  return { ok: true, files: [{ path: routesFile, content: printRoutes(merged.routes) }], warnings: [] };
}

interface GraphAndRoutes {
  readonly graph: ComposedGraph;
  readonly routes: readonly Route[];
}

/** Returns the errors of both. */
export async function composeGraphAndRoutes(
  root: string,
  sources: readonly SubgraphSource[],
): Promise<ValueOrErrors<GraphAndRoutes>> {
  const graph = composeSubgraphs(sources);
  const merged = mergeRoutes(await readRoutes(root, sources));
  if (graph.ok && merged.ok) return { ok: true, graph, routes: merged.routes };
  return { ok: false, errors: [...(graph.ok ? [] : graph.errors), ...(merged.ok ? [] : merged.errors)] };
}
