// Composes the supergraph. Called by `npm run generate`, `npm run check`, `npm start` and the tests. Run as a program, it writes only
// supergraph.graphql, api.graphql and routes.json.
import { fileURLToPath } from "node:url";
import { composeServices } from "@apollo/composition";
import type { CompositionResult, CompositionSuccess } from "@apollo/composition";
import { GraphQLError, lexicographicSortSchema, printSchema } from "graphql";
import type { CompositionError } from "./composition/composition-errors.ts";
import {
  createCompositionError,
  createMissingSchemaError,
  createSyntaxError,
} from "./composition/composition-errors.ts";
import type { GeneratorResult, GeneratorOptions } from "./composition/generated-files.ts";
import { runGenerator } from "./composition/generator-command.ts";
import type { ParsedSubgraph } from "./composition/places.ts";
import { parseSubgraph } from "./composition/places.ts";
import { findPriorityProblems } from "./composition/priorities.ts";
import { readRoutes } from "./routes/route-sources.ts";
import { mergeRoutes, printRoutes } from "./routes/routes.ts";
import { readServices } from "./services.ts";
import type { Subgraph, SubgraphSource } from "./subgraphs.ts";
import { readSubgraphs } from "./subgraphs.ts";

/** A diagnostic of Apollo's composition that does not prevent publishing the supergraph. */
export interface CompositionHint {
  readonly code: string;
  /** WARN, INFO or DEBUG. Only WARN is printed. */
  readonly level: string;
  readonly message: string;
}

export type Composition =
  | {
      readonly ok: true;
      /** The supergraph with join directives, from which the gateway plans queries. */
      readonly supergraphSdl: string;
      /** The API schema that clients see, without federation directives. Sorted, so that a diff shows only changes. */
      readonly apiSdl: string;
      readonly hints: readonly CompositionHint[];
    }
  | { readonly ok: false; readonly errors: readonly CompositionError[] };

/** Path of the route table, relative to the repository's root. */
export const routesFile = "supergraph/routes.json";

const notice = "# Made from the services' schema.graphql by `npm run generate`. Do not edit.\n\n";

/** Composes subgraphs into one supergraph. Never throws for an invalid schema: each error names its owner and line, if they are known. */
export function composeSubgraphs(sources: readonly SubgraphSource[]): Composition {
  const { parsed, errors: parseErrors } = parseAll(sources);
  if (parseErrors.length > 0) return { ok: false, errors: parseErrors };
  const priorityErrors = findPriorityProblems(parsed);
  const result = compose(parsed);
  if (result.errors) {
    const compositionErrors = result.errors.map((error) => createCompositionError(error, parsed));
    return { ok: false, errors: [...compositionErrors, ...priorityErrors] };
  }
  if (priorityErrors.length > 0) return { ok: false, errors: priorityErrors };
  return {
    ok: true,
    supergraphSdl: `${notice}${result.supergraphSdl.trim()}\n`,
    apiSdl: printApi(result),
    hints: toHints(result),
  };
}

/** Composes the schemas and routes below `root` into supergraph.graphql, api.graphql and routes.json. Returns the files; does not write them. */
export async function composeRepository(
  root: string,
  { partial }: GeneratorOptions,
  subgraphs: readonly Subgraph[] = readServices(root),
): Promise<GeneratorResult> {
  // A missing file is an error, except with `partial`, which leaves its service out.
  const sources = readSubgraphs(root, subgraphs).filter(({ sdl }) => !partial || sdl !== undefined);
  const routeSources = (await readRoutes(root, subgraphs)).filter(({ text }) => !partial || text !== undefined);
  const graph = composeSubgraphs(sources);
  const merged = mergeRoutes(routeSources);
  if (!graph.ok || !merged.ok) {
    const schemaErrors = graph.ok ? [] : graph.errors;
    const routeErrors = merged.ok ? [] : merged.errors;
    return { ok: false, errors: [...schemaErrors, ...routeErrors] };
  }
  const files = [
    { path: "supergraph/supergraph.graphql", content: graph.supergraphSdl },
    { path: "supergraph/api.graphql", content: graph.apiSdl },
    { path: routesFile, content: printRoutes(merged.routes) },
  ];
  const warnings = graph.hints.filter(({ level }) => level === "WARN");
  return { ok: true, files, warnings: warnings.map(({ code, message }) => `${code}: ${message}`) };
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
  const services = parsed.map(({ source, document }) => ({ name: source.name, url: source.url, typeDefs: document }));
  try {
    return composeServices(services);
  } catch (error) {
    // composeServices throws for a few malformed schemas. `npm start` must keep running, as after a reported error.
    return { errors: [error instanceof GraphQLError ? error : new GraphQLError(String(error))] };
  }
}

function printApi({ schema }: CompositionSuccess): string {
  const apiSchema = schema.toAPISchema().toGraphQLJSSchema();
  const apiSdl = printSchema(lexicographicSortSchema(apiSchema)).trim();
  return `${notice}${apiSdl}\n`;
}

function toHints({ hints }: CompositionSuccess): CompositionHint[] {
  return hints.map(({ definition, message }) => ({
    code: definition.code,
    level: definition.level.name,
    message,
  }));
}

if (import.meta.main) {
  process.exitCode = await runGenerator({
    commandLine: "node supergraph/compose.ts",
    root: fileURLToPath(new URL("..", import.meta.url)),
    args: process.argv.slice(2),
    generate: composeRepository,
    print: (text) => process.stdout.write(text),
  });
}
