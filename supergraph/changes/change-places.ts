// Finds, for each change of the API, the lines in the subgraphs' schemas that caused it: `npm run check` and `npm start` print them.
import { print } from "graphql";
import type { ChangePlace } from "./changes.ts";
import type { Ownership } from "../composition/ownership.ts";
import { readOwnership } from "../composition/ownership.ts";
import type { ParsedSubgraph, Place } from "../composition/places.ts";
import { findCoordinate, parseSubgraph, placeOfNode } from "../composition/places.ts";
import type { SubgraphSource } from "../subgraphs.ts";

/** The graph at one commit or on disk: the API schema, the supergraph (its join directives name the owners of each field), and the subgraphs. */
export interface GraphState {
  readonly apiSdl: string;
  readonly supergraphSdl: string;
  readonly sources: readonly SubgraphSource[];
}

/** A graph state, parsed for finding owners and lines. */
export interface ParsedGraphState {
  readonly ownership: Ownership;
  readonly subgraphs: ReadonlyMap<string, ParsedSubgraph>;
}

interface ComparedStates {
  readonly base: ParsedGraphState;
  readonly now: ParsedGraphState;
}

/** The line that defines a coordinate in one subgraph's schema. */
interface DefinitionLine {
  readonly place: Place;
  /** False if the place is that of the nearest enclosing definition: this schema does not define the coordinate itself. */
  readonly isExact: boolean;
}

/** Subgraphs without a schema are left out. @throws GraphQLError if the supergraph or a subgraph's schema has a syntax error. */
export function parseGraphState({ supergraphSdl, sources }: GraphState): ParsedGraphState {
  const present = sources.filter(({ sdl }) => sdl !== undefined);
  const subgraphs = new Map(present.map((source) => [source.name, parseSubgraph(source)]));
  return { ownership: readOwnership(supergraphSdl), subgraphs };
}

/**
 * Finds the lines that define a coordinate of the API in its owners' schemas: of the owners that edited it, or of all owners if none did (its type
 * may have changed in another subgraph). A line is in the current file, or in the base if only the base defines the coordinate. If neither defines
 * it, the line is that of the nearest enclosing definition.
 */
export function findChangePlaces(coordinate: string, states: ComparedStates): ChangePlace[] {
  const { base, now } = states;
  // Only the current supergraph knows a new coordinate, and only the base knows a removed one.
  const isNew = !base.ownership.has(coordinate) && now.ownership.has(coordinate);
  const owners = (isNew ? now : base).ownership.findOwners(coordinate);
  // If several subgraphs share the coordinate, only those that edited it are named.
  const editors = owners.filter(
    (owner) => definitionIn(base, owner, coordinate) !== definitionIn(now, owner, coordinate),
  );
  const named = editors.length > 0 ? editors : owners;
  return named.flatMap((owner) => findChangePlace(owner, coordinate, states) ?? []);
}

function findChangePlace(owner: string, coordinate: string, { base, now }: ComparedStates): ChangePlace | undefined {
  const current = findLine(now, owner, coordinate);
  if (current?.isExact) return { ...current.place, onlyInBase: false };
  const former = findLine(base, owner, coordinate);
  if (former?.isExact) return { ...former.place, onlyInBase: true };
  // From here on, the lines are those of enclosing definitions.
  if (current) return { ...current.place, onlyInBase: false };
  if (former) return { ...former.place, onlyInBase: true };
  return undefined;
}

/** Undefined if the subgraph does not define the type. */
function findLine(state: ParsedGraphState, owner: string, coordinate: string): DefinitionLine | undefined {
  const subgraph = state.subgraphs.get(owner);
  if (!subgraph) return undefined;
  const match = findCoordinate(subgraph.document, coordinate);
  if (!match) return undefined;
  const place = placeOfNode(match.node, [subgraph.source]);
  return place && { place, isExact: match.exact };
}

/** The text of a coordinate's definition in one subgraph's schema, or of the nearest enclosing one; empty if the type is not defined there. */
function definitionIn(state: ParsedGraphState, owner: string, coordinate: string): string {
  const subgraph = state.subgraphs.get(owner);
  const match = subgraph && findCoordinate(subgraph.document, coordinate);
  return match ? print(match.node) : "";
}
