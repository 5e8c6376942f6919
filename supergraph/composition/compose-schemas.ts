// The composition of any subgraphs, of this platform or of others.
import { composeServices, type CompositionResult, type CompositionSuccess } from "@apollo/composition";
import { toClientSchema } from "@tributary/kit/federation/api-schema";
import { printWholeSchema } from "@tributary/kit/federation/default-values";
import { listOneOfInputs, withOneOfDefinition } from "@tributary/kit/federation/one-of";
import { GraphQLError, Kind, lexicographicSortSchema, parse, print } from "graphql";
import type { SubgraphSource } from "../subgraphs.ts";
import {
  type CompositionError,
  type CompositionHint,
  type ValueOrErrors,
  createCompositionError,
  createMissingSchemaError,
  createSyntaxError,
} from "./composition-errors.ts";
import { lowerFederationVersions } from "./federation-versions.ts";
import { findOneOfProblems, restoreOneOf } from "./one-of.ts";
import { type ParsedSubgraph, parseSubgraph } from "./places.ts";
import { findUnservedSubscriptions, findUnsupportedDirectiveProblems } from "./unsupported.ts";

export interface ComposedGraph {
  /** With join directives, from which the gateway plans queries. */
  readonly supergraphSdl: string;
  /** What clients see. Sorted, so that a diff shows only changes. */
  readonly apiSdl: string;
  readonly hints: readonly CompositionHint[];
}

/**
 * Never throws for an invalid schema: each error names its owner and line, if they are known.
 * @param findProblems that composition does not find.
 * @param description of the whole graph. Default: that of a subgraph's `schema` definition.
 */
export function composeSchemas(
  sources: readonly SubgraphSource[],
  findProblems: (parsed: readonly ParsedSubgraph[]) => readonly CompositionError[] = () => [],
  description?: string,
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
  if (description !== undefined) result.schema.schemaDefinition.description = description;
  const supergraphSdl =
    description === undefined ? result.supergraphSdl : replaceDescription(result.supergraphSdl, description);
  const oneOfInputs = new Set(parsed.flatMap(({ document }) => [...listOneOfInputs(document)]));
  return {
    ok: true,
    supergraphSdl: `${restoreOneOf(supergraphSdl, oneOfInputs).trim()}\n`,
    apiSdl: printApi(result, oneOfInputs),
    hints: [...versions.hints, ...findUnservedSubscriptions(parsed), ...toHints(result)],
  };
}

/** The supergraph begins with its schema definition, which has the description of a subgraph's. */
function replaceDescription(supergraphSdl: string, value: string): string {
  const [schema] = parse(supergraphSdl).definitions;
  const earlier = schema?.kind === Kind.SCHEMA_DEFINITION ? schema.description : undefined;
  const rest = supergraphSdl.slice(earlier?.loc?.end ?? 0).trimStart();
  return `${print({ kind: Kind.STRING, value, block: true })}\n${rest}`;
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
  const apiSchema = toClientSchema(schema.toAPISchema().toGraphQLJSSchema(incremental), {
    oneOfInputs,
    description: schema.schemaDefinition.description,
  });
  const apiSdl = printWholeSchema(lexicographicSortSchema(apiSchema)).trim();
  return `${apiSdl}\n`;
}

function toHints({ hints }: CompositionSuccess): CompositionHint[] {
  return hints.map(({ definition, message }) => ({
    code: definition.code,
    level: definition.level.name,
    message,
  }));
}
