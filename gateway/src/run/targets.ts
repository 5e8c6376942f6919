// Stage 4 of 5: run. Finds the objects that a fetch is for (its targets): from the root of the response, along the paths of the fetch, through the
// data that is joined so far.
import type { FieldAccess, Joins, ObjectLayout, ResponsePosition } from "../plan/compile/compiled-plan.ts";

type Json = Readonly<Record<string, unknown>>;

/** Gets an object at the end of a path, with its layout and its position there. */
export type VisitTarget = (object: Json, layout: ObjectLayout, position: ResponsePosition) => void;

/** The data of one request, as far as it is fetched. */
export interface ResponseTree {
  readonly root: Json;
  /** The position of `root`. */
  readonly position: ResponsePosition;
  readonly joins: Joins;
}

type Paths = readonly (readonly string[])[];

/** The paths of a fetch as a prefix tree: a common prefix is walked once. */
interface PathTree {
  /** Whether a path ends here. */
  isTarget: boolean;
  /** By planner key. */
  readonly children: Map<string, PathTree>;
  /** The children that are composite fields of objects with this layout. Computed once per layout. */
  stepsFrom(layout: ObjectLayout): readonly PathStep[];
}

interface PathStep {
  readonly access: FieldAccess;
  readonly nextPosition: ResponsePosition;
  readonly nextPaths: PathTree;
}

/**
 * Visits all objects at paths of planner keys, through lists too. An entity is visited several times if it is joined to several objects. Nulls,
 * scalars and lists deeper than the type are skipped; stage 5 reports them. The recursion is never deeper than the plan, whatever a subgraph sends.
 */
export function visitTargets({ root, position, joins }: ResponseTree, paths: Paths, visit: VisitTarget): void {
  walk(root, position, position.listDepth, pathTreeOf(paths), joins, visit);
}

/** @param listDepth how many levels of lists the field's type has from here on. */
function walk(
  value: unknown,
  position: ResponsePosition,
  listDepth: number,
  paths: PathTree,
  joins: Joins,
  visit: VisitTarget,
): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (listDepth === 0) return;
    const entries = value as readonly unknown[];
    for (let i = 0; i < entries.length; i++) walk(entries[i], position, listDepth - 1, paths, joins, visit);
    return;
  }
  const object = value as Json;
  const layout = position.layoutOf(object, joins);
  // No object of this type is possible at the position.
  if (!layout) return;
  if (paths.isTarget) visit(object, layout, position);
  const steps = paths.stepsFrom(layout);
  for (let i = 0; i < steps.length; i++) {
    const { access, nextPosition, nextPaths } = steps[i] as PathStep;
    walk(access.read(object, joins), nextPosition, nextPosition.listDepth, nextPaths, joins, visit);
  }
}

const pathTrees = new WeakMap<Paths, PathTree>();

/** Built once for each compiled fetch, whose `paths` is the key. */
function pathTreeOf(paths: Paths): PathTree {
  const tree = pathTrees.get(paths) ?? buildPathTree(paths);
  pathTrees.set(paths, tree);
  return tree;
}

function buildPathTree(paths: Paths): PathTree {
  const root = createPathTree();
  for (const path of paths) {
    let tree = root;
    for (const key of path) {
      const child = tree.children.get(key) ?? createPathTree();
      tree.children.set(key, child);
      tree = child;
    }
    tree.isTarget = true;
  }
  return root;
}

function createPathTree(): PathTree {
  const children = new Map<string, PathTree>();
  const stepsByLayout = new Map<ObjectLayout, readonly PathStep[]>();

  function listSteps(layout: ObjectLayout): readonly PathStep[] {
    const steps: PathStep[] = [];
    for (const [key, nextPaths] of children) {
      const access = layout.access(key);
      if (access?.position) steps.push({ access, nextPosition: access.position, nextPaths });
    }
    return steps;
  }

  return {
    isTarget: false,
    children,
    stepsFrom(layout) {
      const steps = stepsByLayout.get(layout) ?? listSteps(layout);
      stepsByLayout.set(layout, steps);
      return steps;
    },
  };
}

export interface LocatedObject {
  readonly object: Json;
  readonly layout: ObjectLayout;
  readonly position: ResponsePosition;
  /** Planner keys and list indexes from the root. */
  readonly path: readonly (string | number)[];
}

/** Lists the objects that `visitTargets` visits, once for each of their paths. Slower, so field-errors.ts uses it only after an error. */
export function locateTargets(tree: ResponseTree, paths: Paths): readonly LocatedObject[] {
  return paths.flatMap((path) => locateTargetsAt(tree, path));
}

function locateTargetsAt({ root, position, joins }: ResponseTree, path: readonly string[]): readonly LocatedObject[] {
  const located: LocatedObject[] = [];
  /** @param keyIndex of the next key in `path`. @param pathHere from the root to the value, with list indexes. */
  const locate = (
    value: unknown,
    positionHere: ResponsePosition,
    listDepth: number,
    keyIndex: number,
    pathHere: LocatedObject["path"],
  ): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      if (listDepth === 0) return;
      for (const [i, entry] of (value as readonly unknown[]).entries()) {
        locate(entry, positionHere, listDepth - 1, keyIndex, [...pathHere, i]);
      }
      return;
    }
    const object = value as Json;
    const layout = positionHere.layoutOf(object, joins);
    if (!layout) return;
    const key = path[keyIndex];
    if (key === undefined) {
      located.push({ object, layout, position: positionHere, path: pathHere });
      return;
    }
    const access = layout.access(key);
    if (!access?.position) return;
    locate(access.read(object, joins), access.position, access.position.listDepth, keyIndex + 1, [...pathHere, key]);
  };
  locate(root, position, position.listDepth, 0, []);
  return located;
}
