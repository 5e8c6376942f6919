import { fileURLToPath } from "node:url";
import { composeServices } from "@apollo/composition";
import type { CompositionSuccess } from "@apollo/composition";
import { GraphQLError, lexicographicSortSchema, printSchema } from "graphql";
import type { CompositionError } from "./composition/composition-errors.ts";
import {
  describeCompositionError,
  describeMissingSchema,
  describeSyntaxError,
} from "./composition/composition-errors.ts";
import type { Generation, GenerationOptions } from "./composition/generated-files.ts";
import { runGenerator } from "./composition/generator-command.ts";
import type { ParsedSubgraph } from "./composition/places.ts";
import { parseSubgraph } from "./composition/places.ts";
import { readRoutes } from "./routes/route-sources.ts";
import { mergeRoutes, printRoutes } from "./routes/routes.ts";
import type { Subgraph, SubgraphSource } from "./subgraphs.ts";
import { readSubgraphs, subgraphs } from "./subgraphs.ts";

/** A remark of composition that keeps nobody from publishing. */
export interface CompositionHint {
  readonly code: string;
  /** WARN is worth a look; INFO and DEBUG describe. */
  readonly level: string;
  readonly message: string;
}

export type Composition =
  | {
      readonly ok: true;
      /** What the gateway plans with. */
      readonly supergraphSdl: string;
      /** What clients see: no federation machinery, sorted, so that a diff shows changes only. */
      readonly apiSdl: string;
      readonly hints: readonly CompositionHint[];
    }
  | { readonly ok: false; readonly errors: readonly CompositionError[] };

const notice = "# Made from the services' schema.graphql by `npm run generate`. Do not edit.\n\n";

/** Composes subgraphs into one supergraph. Never throws for what a schema says: each error names its owner and line. */
export function composeSubgraphs(sources: readonly SubgraphSource[]): Composition {
  const { parsed, errors } = parseAll(sources);
  if (errors.length > 0) return { ok: false, errors };
  const result = compose(parsed);
  if ("crash" in result || result.errors) {
    const reasons = "crash" in result ? [result.crash] : result.errors;
    return { ok: false, errors: reasons.map((error) => describeCompositionError(error, parsed)) };
  }
  return {
    ok: true,
    supergraphSdl: `${notice}${result.supergraphSdl.trim()}\n`,
    apiSdl: printApi(result),
    hints: hintsOf(result),
  };
}

/**
 * Composes what lies below `root` into the three committed files: supergraph.graphql, api.graphql, routes.json.
 */
export async function composeRepository(
  root: string,
  { partial }: GenerationOptions,
  list: readonly Subgraph[] = subgraphs,
): Promise<Generation> {
  const sources = readSubgraphs(root, list).filter(({ sdl }) => !partial || sdl !== undefined);
  const routeSources = (await readRoutes(root, list)).filter(({ text }) => !partial || text !== undefined);
  const graph = composeSubgraphs(sources);
  const routes = mergeRoutes(routeSources);
  if (!graph.ok || !routes.ok) {
    return {
      ok: false,
      errors: [...(graph.ok ? [] : graph.errors), ...(routes.ok ? [] : routes.errors)],
    };
  }
  const files = [
    { path: "supergraph/supergraph.graphql", content: graph.supergraphSdl },
    { path: "supergraph/api.graphql", content: graph.apiSdl },
    { path: "supergraph/routes.json", content: printRoutes(routes.routes) },
  ];
  const warnings = graph.hints.filter(({ level }) => level === "WARN");
  return { ok: true, files, remarks: warnings.map(({ code, message }) => `${code}: ${message}`) };
}

function parseAll(sources: readonly SubgraphSource[]): {
  parsed: ParsedSubgraph[];
  errors: CompositionError[];
} {
  const parsed: ParsedSubgraph[] = [];
  const errors: CompositionError[] = [];
  for (const source of sources) {
    if (source.sdl === undefined) {
      errors.push(describeMissingSchema(source));
      continue;
    }
    try {
      parsed.push(parseSubgraph(source));
    } catch (error) {
      errors.push(describeSyntaxError(error, source));
    }
  }
  return { parsed, errors };
}

function compose(parsed: readonly ParsedSubgraph[]) {
  try {
    return composeServices(parsed.map(({ source: { name, url }, document }) => ({ name, url, typeDefs: document })));
  } catch (error) {
    // Composition throws for a few malformed schemas. The team's loop must survive that as it survives an error.
    return { crash: error instanceof GraphQLError ? error : new GraphQLError(String(error)) };
  }
}

function printApi({ schema }: CompositionSuccess): string {
  return `${notice}${printSchema(lexicographicSortSchema(schema.toAPISchema().toGraphQLJSSchema())).trim()}\n`;
}

function hintsOf({ hints }: CompositionSuccess): CompositionHint[] {
  return hints.map(({ definition, message }) => ({
    code: definition.code,
    level: definition.level.name,
    message,
  }));
}

if (import.meta.main) {
  process.exitCode = await runGenerator({
    command: "node supergraph/compose.ts",
    root: fileURLToPath(new URL("..", import.meta.url)),
    args: process.argv.slice(2),
    generate: composeRepository,
    write: (text) => process.stdout.write(text),
  });
}
