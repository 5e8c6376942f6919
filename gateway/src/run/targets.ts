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
export function visitTargets({ root, position, joins }: Tree, paths: Paths, visit: Visit): void {
  const walk = (value: unknown, at: Position, way: Way): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const entry of value as readonly unknown[]) walk(entry, at, way);
      return;
    }
    const object = value as Json;
    const layout = at.layoutOf(object, joins);
    if (!layout) return;
    if (way.isTarget) visit(object, layout, at);
    for (const [key, next] of way.onwards) {
      const access = layout.access(key);
      if (access?.position) walk(access.read(object, joins), access.position, next);
    }
  };
  walk(root, position, joinPaths(paths));
}

/** Paths with a common beginning, walked once. */
interface Way {
  isTarget: boolean;
  readonly onwards: Map<string, Way>;
}

function joinPaths(paths: Paths): Way {
  const start: Way = { isTarget: false, onwards: new Map() };
  for (const path of paths) {
    let way = start;
    for (const key of path) {
      const next = way.onwards.get(key) ?? { isTarget: false, onwards: new Map<string, Way>() };
      way.onwards.set(key, next);
      way = next;
    }
    way.isTarget = true;
  }
  return start;
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
