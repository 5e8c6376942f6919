// Stage 4 of 5: fetch it. The objects that a fetch is about, found from the root through what is joined so far.
import type { Access, Joins, ObjectLayout, Position } from "../plan/compile/compiled-plan.ts";

type Json = Readonly<Record<string, unknown>>;

/** An object at the end of a path, and its layout there. */
export type Visit = (object: Json, layout: ObjectLayout, position: Position) => void;

export interface Tree {
  readonly root: Json;
  readonly position: Position;
  readonly joins: Joins;
}

type Paths = readonly (readonly string[])[];

/**
 * Visits all objects at paths of planner keys, in lists too; one object may come often. Nulls and values that do not fit their type are left
 * out: stage 5 reports them. So the recursion is never deeper than the plan, whatever a subgraph sends.
 */
export function visitTargets({ root, position, joins }: Tree, paths: Paths, visit: Visit): void {
  walk(root, position, position.listDepth, wayOf(paths), joins, visit);
}

/** @param listDepth how deep lists may be nested here. */
function walk(value: unknown, at: Position, listDepth: number, way: Way, joins: Joins, visit: Visit): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (listDepth === 0) return;
    const entries = value as readonly unknown[];
    for (let i = 0; i < entries.length; i++) walk(entries[i], at, listDepth - 1, way, joins, visit);
    return;
  }
  const object = value as Json;
  const layout = at.layoutOf(object, joins);
  if (!layout) return;
  if (way.isTarget) visit(object, layout, at);
  const turns = way.turnsAt(layout);
  for (let i = 0; i < turns.length; i++) {
    const { access, position, way: next } = turns[i] as Turn;
    walk(access.read(object, joins), position, position.listDepth, next, joins, visit);
  }
}

/** Paths with a common beginning, walked once. */
interface Way {
  isTarget: boolean;
  readonly onwards: Map<string, Way>;
  /** Where it goes on from an object. */
  turnsAt(layout: ObjectLayout): readonly Turn[];
}

interface Turn {
  readonly access: Access;
  readonly position: Position;
  readonly way: Way;
}

const ways = new WeakMap<Paths, Way>();

/** The same for the same fetch, as often as it is sent. */
function wayOf(paths: Paths): Way {
  const way = ways.get(paths) ?? joinPaths(paths);
  ways.set(paths, way);
  return way;
}

function joinPaths(paths: Paths): Way {
  const start = createWay();
  for (const path of paths) {
    let way = start;
    for (const key of path) {
      const next = way.onwards.get(key) ?? createWay();
      way.onwards.set(key, next);
      way = next;
    }
    way.isTarget = true;
  }
  return start;
}

function createWay(): Way {
  const onwards = new Map<string, Way>();
  const known = new Map<ObjectLayout, readonly Turn[]>();

  function findTurns(layout: ObjectLayout): readonly Turn[] {
    return [...onwards].flatMap(([key, way]) => {
      const access = layout.access(key);
      return access?.position ? { access, position: access.position, way } : [];
    });
  }

  return {
    isTarget: false,
    onwards,
    turnsAt(layout) {
      const turns = known.get(layout) ?? findTurns(layout);
      known.set(layout, turns);
      return turns;
    },
  };
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
  const walk = (value: unknown, at: Position, listDepth: number, depth: number, steps: Placed["path"]): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      if (listDepth === 0) return;
      for (const [i, entry] of (value as readonly unknown[]).entries()) {
        walk(entry, at, listDepth - 1, depth, [...steps, i]);
      }
      return;
    }
    const object = value as Json;
    const layout = at.layoutOf(object, joins);
    if (!layout) return;
    const key = path[depth];
    if (key === undefined) return void places.push({ object, layout, position: at, path: steps });
    const access = layout.access(key);
    if (!access?.position) return;
    walk(access.read(object, joins), access.position, access.position.listDepth, depth + 1, [...steps, key]);
  };
  walk(root, position, position.listDepth, 0, []);
  return places;
}
