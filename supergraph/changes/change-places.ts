import { print } from "graphql";
import type { ChangePlace } from "./changes.ts";
import type { Ownership } from "../composition/ownership.ts";
import { readOwnership } from "../composition/ownership.ts";
import type { ParsedSubgraph } from "../composition/places.ts";
import { findCoordinate, parseSubgraph, placeOfNode } from "../composition/places.ts";
import type { SubgraphSource } from "../subgraphs.ts";

/** One state of the graph: what clients see, who resolves what, and the teams' own files. */
export interface GraphState {
  readonly apiSdl: string;
  readonly supergraphSdl: string;
  readonly sources: readonly SubgraphSource[];
}

/** A state, read for questions about places. */
export interface Side {
  readonly ownership: Ownership;
  readonly subgraphs: ReadonlyMap<string, ParsedSubgraph>;
}

/** Parses a state's supergraph and the teams' files. Throws graphql's syntax error for what does not parse. */
export function readSide({ supergraphSdl, sources }: GraphState): Side {
  const present = sources.filter(({ sdl }) => sdl !== undefined);
  const subgraphs = new Map(present.map((source) => [source.name, parseSubgraph(source)]));
  return { ownership: readOwnership(supergraphSdl), subgraphs };
}

/** The owners' own lines for a coordinate of the API: in today's file where it still stands, else where it stood. */
export function findChangePlaces(
  coordinate: string,
  sides: { readonly base: Side; readonly now: Side },
): ChangePlace[] {
  const { base, now } = sides;
  // What is new only today's supergraph knows; what is gone only the base's.
  const knowing = !base.ownership.has(coordinate) && now.ownership.has(coordinate) ? now : base;
  const owners = knowing.ownership.findOwners(coordinate);
  // Of several owners only those who touched it are to blame.
  const touched = owners.filter((owner) => textOf(base, owner, coordinate) !== textOf(now, owner, coordinate));
  return (touched.length > 0 ? touched : owners).flatMap((owner) => placeFor(owner, coordinate, sides) ?? []);
}

function placeFor(
  owner: string,
  coordinate: string,
  { base, now }: { base: Side; now: Side },
): ChangePlace | undefined {
  const standing = placeIn(now, owner, coordinate);
  if (standing?.exact) return { ...standing.place, gone: false };
  const stood = placeIn(base, owner, coordinate);
  if (stood?.exact) return { ...stood.place, gone: true };
  const around = standing ?? stood;
  return around && { ...around.place, gone: around === stood };
}

function placeIn(side: Side, owner: string, coordinate: string) {
  const subgraph = side.subgraphs.get(owner);
  const found = subgraph && findCoordinate(subgraph.document, coordinate);
  const place = found && placeOfNode(found.node, [subgraph.source]);
  return place && { place, exact: found.exact };
}

function textOf(side: Side, owner: string, coordinate: string): string {
  const subgraph = side.subgraphs.get(owner);
  const found = subgraph && findCoordinate(subgraph.document, coordinate);
  return found ? print(found.node) : "";
}
