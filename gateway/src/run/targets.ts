// Stage 4 of 5: fetch it. The objects that a fetch is about, found from the root through what is joined so far.
import type { Joins, ObjectLayout, Position } from "../plan/compiled-plan.ts";

type Json = Readonly<Record<string, unknown>>;

/** An object at the end of a path, and its layout there. */
export type Visit = (object: Json, layout: ObjectLayout, position: Position) => void;

export interface Tree {
  readonly root: Json;
  readonly position: Position;
  readonly joins: Joins;
}

type Paths = readonly (readonly string[])[];

/** Visits all objects at paths of planner keys, lists opened, nulls and what has no shape to go on left out; one object may come often. */
export function visitTargets(tree: Tree, paths: Paths, visit: Visit): void {
  for (const path of paths) visitAt(tree, path, visit);
}

function visitAt({ root, position, joins }: Tree, path: readonly string[], visit: Visit): void {
  const walk = (value: unknown, at: Position, depth: number): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const entry of value as readonly unknown[]) walk(entry, at, depth);
      return;
    }
    const object = value as Json;
    const layout = at.layoutOf(object, joins);
    if (!layout) return;
    const key = path[depth];
    if (key === undefined) return visit(object, layout, at);
    const access = layout.access(key);
    if (access?.position) walk(access.read(object, joins), access.position, depth + 1);
  };
  walk(root, position, 0);
}

export interface Placed {
  readonly object: Json;
  readonly layout: ObjectLayout;
  readonly position: Position;
  /** Planner keys and list indexes from the root. */
  readonly path: readonly (string | number)[];
}

/** As visitTargets, with the path of each object. Slower: only for when something went wrong. */
export function findPlaces(tree: Tree, paths: Paths): readonly Placed[] {
  return paths.flatMap((path) => findPlacesAt(tree, path));
}

function findPlacesAt({ root, position, joins }: Tree, path: readonly string[]): readonly Placed[] {
  const places: Placed[] = [];
  const walk = (value: unknown, at: Position, depth: number, steps: readonly (string | number)[]): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const [i, entry] of (value as readonly unknown[]).entries()) walk(entry, at, depth, [...steps, i]);
      return;
    }
    const object = value as Json;
    const layout = at.layoutOf(object, joins);
    if (!layout) return;
    const key = path[depth];
    if (key === undefined) return void places.push({ object, layout, position: at, path: steps });
    const access = layout.access(key);
    if (access?.position) walk(access.read(object, joins), access.position, depth + 1, [...steps, key]);
  };
  walk(root, position, 0, []);
  return places;
}
