import { composeServices, type CompositionResult, type CompositionSuccess } from "@apollo/composition";
import { toClientSchema } from "@tributary/kit/federation/api-schema";
import { listOneOfInputs, withOneOfDefinition } from "@tributary/kit/federation/one-of";
import { GraphQLError, lexicographicSortSchema, printSchema } from "graphql";
import {
  type CompositionError,
  type CompositionHint,
  type ValueOrErrors,
  createCompositionError,
  createMissingSchemaError,
  createSyntaxError,
  printWarnings,
} from "./composition/composition-errors.ts";
import { lowerFederationVersions } from "./composition/federation-versions.ts";
import { combineResults, type GeneratorResult } from "./composition/generated-files.ts";
import { findOneOfProblems, restoreOneOf } from "./composition/one-of.ts";
import { type ParsedSubgraph, parseSubgraph } from "./composition/places.ts";
import { findPriorityProblems } from "./composition/priorities.ts";
import { findUnservedSubscriptions, findUnsupportedDirectiveProblems } from "./composition/unsupported.ts";
import { readRoutes } from "./routes/route-sources.ts";
import { mergeRoutes, printRoutes, type Route } from "./routes/routes.ts";
import { readServices } from "./services.ts";
import { readSubgraphs, type Subgraph, type SubgraphSource } from "./subgraphs.ts";

interface ComposedGraph {
  /** With join directives, from which the gateway plans queries. */
  readonly supergraphSdl: string;
  /** What clients see. Sorted, so that a diff shows only changes. */
  readonly apiSdl: string;
  readonly hints: readonly CompositionHint[];
}

export const routesFile = "supergraph/routes.json";

const notice = "# Made from the services' schema.graphql by `npm run generate`. Do not edit.\n\n";

/** Adds what only this platform's schemas have. */
export function composeSubgraphs(sources: readonly SubgraphSource[]): ValueOrErrors<ComposedGraph> {
  const graph = composeSchemas(sources, findPriorityProblems);
  if (!graph.ok) return graph;
  return { ...graph, supergraphSdl: notice + graph.supergraphSdl, apiSdl: notice + graph.apiSdl };
}

/** Never throws for an invalid schema: each error names its owner and line, if they are known. @param findProblems that composition does not find. */
export function composeSchemas(
  sources: readonly SubgraphSource[],
  findProblems: (parsed: readonly ParsedSubgraph[]) => readonly CompositionError[] = () => [],
): ValueOrErrors<ComposedGraph> {
  const { parsed, errors: parseErrors } = parseAll(sources);
  if (parseErrors.length > 0) return { ok: false, errors: parseErrors };
  const versions = lowerFederationVersions(parsed);
  if (versions.errors.length > 0) return { ok: false, errors: versions.errors };
  const otherErrors = [
    ...findProblems(parsed),
    ...findOneOfProblems(parsed),
    ...findUnsupportedDirectiveProblems(parsed),
  ];
  const result = compose(versions.subgraphs);
  if (result.errors) {
    const compositionErrors = result.errors.map((error) => createCompositionError(error, parsed));
    return { ok: false, errors: [...compositionErrors, ...otherErrors] };
  }
  if (otherErrors.length > 0) return { ok: false, errors: otherErrors };
  const oneOfInputs = new Set(parsed.flatMap(({ document }) => [...listOneOfInputs(document)]));
  return {
    ok: true,
    supergraphSdl: `${restoreOneOf(result.supergraphSdl, oneOfInputs).trim()}\n`,
    apiSdl: printApi(result, oneOfInputs),
    hints: [...versions.hints, ...findUnservedSubscriptions(parsed), ...toHints(result)],
  };
}

/** Composes supergraph.graphql, api.graphql and routes.json, without writing them. */
export async function composeRepository(
  root: string,
  subgraphs: readonly Subgraph[] = readServices(root),
): Promise<GeneratorResult> {
  const sources = readSubgraphs(root, subgraphs);
  return combineResults([composeGraphFiles(sources), toRoutesFile(mergeRoutes(await readRoutes(root, sources)))]);
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

function parseAll(sources: readonly SubgraphSource[]): {
  parsed: ParsedSubgraph[];
  errors: CompositionError[];
} {
  const parsed: ParsedSubgraph[] = [];
  const errors: CompositionError[] = [];
  for (const source of sources) {
    if (source.sdl === undefined) {
      errors.push(createMissingSchemaError(source));
      continue;
    }
    try {
      parsed.push(parseSubgraph(source));
    } catch (error) {
      errors.push(createSyntaxError(error, source));
    }
  }
  return { parsed, errors };
}

function compose(parsed: readonly ParsedSubgraph[]): CompositionResult {
  const services = parsed.map(({ source: { name, url }, document }) => {
    return { name, url, typeDefs: withOneOfDefinition(document) };
  });
  try {
    return composeServices(services);
  } catch (error) {
    // composeServices throws for a few malformed schemas.
    return { errors: [error instanceof GraphQLError ? error : new GraphQLError(String(error))] };
  }
}

function printApi({ schema }: CompositionSuccess, oneOfInputs: ReadonlySet<string>): string {
  const incremental = { includeDefer: true, includeStream: true };
  const apiSchema = toClientSchema(schema.toAPISchema().toGraphQLJSSchema(incremental), oneOfInputs);
  const apiSdl = printSchema(lexicographicSortSchema(apiSchema)).trim();
  return `${apiSdl}\n`;
}

function toHints({ hints }: CompositionSuccess): CompositionHint[] {
  return hints.map(({ definition, message }) => ({
    code: definition.code,
    level: definition.level.name,
    message,
  }));
}
