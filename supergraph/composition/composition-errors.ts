import { GraphQLError } from "graphql";
import { compositionAdviceFor } from "./advice.ts";
import { findCoordinate, type ParsedSubgraph, type Place, placeOfNode } from "./places.ts";
import type { SubgraphSource } from "../subgraphs.ts";

export interface CompositionError extends Partial<Place> {
  readonly message: string;
  /** Apollo's composition code (FIELD_TYPE_MISMATCH, …), or SCHEMA_MISSING, SYNTAX_ERROR, PRIORITY_…, ROUTE_… */
  readonly code: string;
  readonly elsewhere?: readonly Place[];
  /** Undefined if the message contains the fix. */
  readonly advice?: string;
}

export interface CompositionHint {
  readonly code: string;
  /** Apollo's: only `WARN` is printed. */
  readonly level: string;
  readonly message: string;
}

export function printWarnings(hints: readonly CompositionHint[]): string[] {
  return hints.filter(({ level }) => level === "WARN").map(({ code, message }) => `${code}: ${message}`);
}

/** `errors` are all that prevent the value. */
export type ValueOrErrors<Value> =
  | ({ readonly ok: true } & Value)
  | { readonly ok: false; readonly errors: readonly CompositionError[] };

const syntaxAdvice =
  "correct this line or the one before it. A definition begins with type, input, enum, interface, union, scalar, extend or directive.";

/** @throws `error` itself if it is not a GraphQLError. */
export function createSyntaxError(error: unknown, source: SubgraphSource): CompositionError {
  if (!(error instanceof GraphQLError)) throw error;
  const { line = 1, column = 1 } = error.locations?.[0] ?? {};
  const place = { subgraph: source.name, owner: source.owner, file: source.file, line, column };
  return { message: error.message, code: "SYNTAX_ERROR", ...place, advice: syntaxAdvice };
}

export function createMissingSchemaError({ name, owner, file }: SubgraphSource): CompositionError {
  const message = "This schema is missing. Restore it, or delete the service's service.json.";
  return { message, code: "SCHEMA_MISSING", subgraph: name, owner, file };
}

export function createCompositionError(error: GraphQLError, parsed: readonly ParsedSubgraph[]): CompositionError {
  const code = typeof error.extensions.code === "string" ? error.extensions.code : "COMPOSITION_ERROR";
  const [place, ...elsewhere] = placesOf(error, parsed);
  const described = { message: error.message, code, ...place, advice: compositionAdviceFor(code) };
  return elsewhere.length === 0 ? described : { ...described, elsewhere };
}

/** The line begins with file:line:column, so that an editor can open it. */
export function printCompositionError({ message, code, elsewhere = [], advice, ...place }: CompositionError): string {
  const head = `${printPlace(place)} ${code}`.trim();
  const otherPlaces = elsewhere.map((other) => `see also ${printPlace(other)}`);
  const details = [...message.split("\n"), ...otherPlaces];
  if (advice !== undefined) details.push(`To fix: ${advice}`);
  return [head, ...details.map((line) => `  ${line}`)].join("\n");
}

/** "services/users/schema.graphql:12:3 (@tributary/users-team)"; unknown parts are left out. */
export function printPlace({ file, line, column, owner }: Partial<Place>): string {
  const location = [file, line, column].filter((part) => part !== undefined).join(":");
  return [location, owner && `(${owner})`].filter(Boolean).join(" ");
}

export function distinctPlaces<P extends Place>(places: readonly P[]): readonly P[] {
  const keyOf = ({ file, line, column }: Place) => `${file}:${line}:${column}`;
  const isFirst = (place: P, index: number) => places.findIndex((other) => keyOf(other) === keyOf(place)) === index;
  return places.filter(isFirst);
}

function placesOf(error: GraphQLError, parsed: readonly ParsedSubgraph[]): readonly Place[] {
  const sources = parsed.map(({ source }) => source);
  const places = (error.nodes ?? []).flatMap((node) => placeOfNode(node, sources) ?? []);
  return places.length > 0 ? distinctPlaces(places) : guessPlaces(error.message, parsed);
}

const quotedCoordinatePattern = /"(\w+(?:\.\w+)?)"/g;

/** For errors without AST nodes, such as satisfiability errors: their text names a subgraph ("[users] …") or quotes coordinates ("User.posts"). */
function guessPlaces(message: string, parsed: readonly ParsedSubgraph[]): readonly Place[] {
  const named = parsed.filter(({ source }) => message.startsWith(`[${source.name}] `));
  const candidates = named.length > 0 ? named : parsed;
  for (const [, coordinate = ""] of message.matchAll(quotedCoordinatePattern)) {
    const places = candidates.flatMap((subgraph) => placeOfCoordinate(subgraph, coordinate) ?? []);
    if (places.length > 0) return places;
  }
  return named.map(({ source: { name, owner, file } }) => ({
    subgraph: name,
    owner,
    file,
    line: 1,
    column: 1,
  }));
}

function placeOfCoordinate({ document, source }: ParsedSubgraph, coordinate: string): Place | undefined {
  const match = findCoordinate(document, coordinate);
  return match?.exact ? placeOfNode(match.node, [source]) : undefined;
}
