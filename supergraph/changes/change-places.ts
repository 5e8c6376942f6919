import { print } from "graphql";
import type { ChangePlace } from "./changes.ts";
import { type Ownership, readOwnership } from "../composition/ownership.ts";
import { findCoordinate, type ParsedSubgraph, parseSubgraph, type Place, placeOfNode } from "../composition/places.ts";
import type { SubgraphSource } from "../subgraphs.ts";

export interface GraphState {
  readonly apiSdl: string;
  readonly supergraphSdl: string;
  readonly sources: readonly SubgraphSource[];
}

export interface ParsedGraphState {
  readonly ownership: Ownership;
  readonly subgraphs: ReadonlyMap<string, ParsedSubgraph>;
}

interface ComparedStates {
  readonly base: ParsedGraphState;
  readonly now: ParsedGraphState;
}

interface DefinitionLine {
  readonly place: Place;
  /** False if the place is that of the nearest enclosing definition. */
  readonly isExact: boolean;
}

/** @throws GraphQLError for a syntax error. */
export function parseGraphState({ supergraphSdl, sources }: GraphState): ParsedGraphState {
  const present = sources.filter(({ sdl }) => sdl !== undefined);
  const subgraphs = new Map(present.map((source) => [source.name, parseSubgraph(source)]));
  return { ownership: readOwnership(supergraphSdl), subgraphs };
}

/**
 * The lines that define a coordinate in its owners' schemas: of the owners that edited it, or of all owners if none did (its type may have
 * changed in another subgraph).
 */
export function findChangePlaces(coordinate: string, states: ComparedStates): ChangePlace[] {
  const { base, now } = states;
  // Only the current supergraph knows a new coordinate, and only the base knows a removed one.
  const isNew = !base.ownership.has(coordinate) && now.ownership.has(coordinate);
  const owners = (isNew ? now : base).ownership.findOwners(coordinate);
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
  if (current) return { ...current.place, onlyInBase: false };
  if (former) return { ...former.place, onlyInBase: true };
  return undefined;
}

function findLine(state: ParsedGraphState, owner: string, coordinate: string): DefinitionLine | undefined {
  const subgraph = state.subgraphs.get(owner);
  if (!subgraph) return undefined;
  const match = findCoordinate(subgraph.document, coordinate);
  if (!match) return undefined;
  const place = placeOfNode(match.node, [subgraph.source]);
  return place && { place, isExact: match.exact };
}

/** Or the nearest enclosing definition; empty if the type is not defined there. */
function definitionIn(state: ParsedGraphState, owner: string, coordinate: string): string {
  const subgraph = state.subgraphs.get(owner);
  const match = subgraph && findCoordinate(subgraph.document, coordinate);
  return match ? print(match.node) : "";
}
