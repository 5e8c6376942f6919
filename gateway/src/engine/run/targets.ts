// Stage 4 of 5: run. Finds the objects that a fetch is for (its targets): from the root of the response, along the paths of the fetch, through the
// data that is joined so far.
import type { Json } from "@tributary/kit/json/json";
import { ResultTooLarge } from "../../errors/result-too-large.ts";
import type { FieldAccess, DataJoins, ObjectLayout, ResponsePosition } from "../plan/compile/compiled-plan.ts";
import type { FetchPath, PathStep } from "../plan/compile/fetch-path.ts";

/** Gets an object at the end of a path, with its layout and its position there. */
export type VisitTarget = (object: Json, layout: ObjectLayout, position: ResponsePosition) => void;

export interface ResponseTree {
  readonly root: Json;
  readonly position: ResponsePosition;
  readonly dataJoins: DataJoins;
  /** Undefined in tests only. */
  readonly visits?: VisitBudget | undefined;
}

/** Of one client request. An entity is visited wherever it occurs: lists in lists of the same few entities grow exponentially with the depth. */
export interface VisitBudget {
  left: number;
}

/** Two million objects take some 0.2 s. */
const visitsMax = 2_000_000;
/** A path for each object takes memory. */
const visitsPerLocated = 20;

export function createVisitBudget(): VisitBudget {
  return { left: visitsMax };
}

interface Paths extends ReadonlyArray<FetchPath> {
  /** Computed once. Not in a WeakMap: what only a WeakMap holds, V8 marks while the process pauses. */
  tree?: PathTree;
}

/** The paths that lead to a position, with their common steps already taken. */
interface PathTree {
  /** Computed once per layout. */
  branchOf(layout: ObjectLayout): PathBranch;
}

interface PathBranch {
  readonly isTarget: boolean;
  readonly steps: readonly BranchStep[];
}

interface BranchStep {
  readonly key: string;
  readonly access: FieldAccess;
  readonly nextPosition: ResponsePosition;
  readonly nextPaths: PathTree;
}

/**
 * An entity is visited several times if it is joined to several objects. Nulls, scalars and lists deeper than the type are skipped; stage 5 reports
 * them. The recursion is never deeper than the plan.
 */
export function visitTargets(
  { root, position, dataJoins, visits }: ResponseTree,
  paths: Paths,
  visit: VisitTarget,
): void {
  walk(root, position, position.listDepth, pathTreeOf(paths), {
    dataJoins,
    visit,
    visits,
    weight: 1,
    path: undefined,
    objects: undefined,
  });
}

/** As `visitTargets`, with the objects from the root to each target, which is the last one. */
export function visitTargetsFromRoot(
  { root, position, dataJoins, visits }: ResponseTree,
  paths: Paths,
  visit: (objects: readonly TypedObject[]) => void,
): void {
  const objects: TypedObject[] = [];
  walk(root, position, position.listDepth, pathTreeOf(paths), {
    dataJoins,
    visit: () => visit(objects),
    visits,
    weight: 1,
    path: undefined,
    objects,
  });
}

export interface TypedObject {
  readonly object: Json;
  readonly layout: ObjectLayout;
}

interface Walk {
  readonly dataJoins: DataJoins;
  readonly visit: VisitTarget;
  readonly visits: VisitBudget | undefined;
  readonly weight: number;
  /** Of the current value: planner keys and list indexes. Undefined unless it is needed: it takes time. */
  readonly path: (string | number)[] | undefined;
  /** From the root to the current one. Undefined unless they are needed. */
  readonly objects: TypedObject[] | undefined;
}

/** @param listDepth of the field's type from here on. */
function walk(value: unknown, position: ResponsePosition, listDepth: number, paths: PathTree, o: Walk): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    if (listDepth === 0) return;
    const entries = value as readonly unknown[];
    for (let i = 0; i < entries.length; i++) {
      o.path?.push(i);
      walk(entries[i], position, listDepth - 1, paths, o);
      o.path?.pop();
    }
    return;
  }
  const object = value as Json;
  const layout = position.layoutOf(object, o.dataJoins);
  if (!layout) return;
  if (o.visits && (o.visits.left -= o.weight) < 0) throw new ResultTooLarge();
  const { isTarget, steps } = paths.branchOf(layout);
  o.objects?.push({ object, layout });
  if (isTarget) o.visit(object, layout, position);
  for (let i = 0; i < steps.length; i++) {
    const { key, access, nextPosition, nextPaths } = steps[i] as BranchStep;
    o.path?.push(key);
    walk(access.read(object, o.dataJoins), nextPosition, nextPosition.listDepth, nextPaths, o);
    o.path?.pop();
  }
  o.objects?.pop();
}

function pathTreeOf(paths: Paths): PathTree {
  return (paths.tree ??= createPathTree(paths, 0));
}

/** @param stepCount of the steps that lead to the position. */
function createPathTree(paths: Paths, stepCount: number): PathTree {
  const branches = new Map<ObjectLayout, PathBranch>();

  function createBranch(layout: ObjectLayout): PathBranch {
    const pathsHere = paths.filter((path) => path[stepCount - 1]?.types?.includes(layout.typename) ?? true);
    const longerPaths = pathsHere.filter(({ length }) => length > stepCount);
    const steps: BranchStep[] = [];
    for (const [key, pathsBelow] of Map.groupBy(longerPaths, (path) => (path[stepCount] as PathStep).key)) {
      const access = layout.access(key);
      if (!access?.position) continue;
      const nextPaths = createPathTree(pathsBelow, stepCount + 1);
      steps.push({ key, access, nextPosition: access.position, nextPaths });
    }
    return { isTarget: longerPaths.length < pathsHere.length, steps };
  }

  return {
    branchOf(layout) {
      const known = branches.get(layout);
      if (known) return known;
      const branch = createBranch(layout);
      branches.set(layout, branch);
      return branch;
    },
  };
}

export interface LocatedObject extends TypedObject {
  readonly position: ResponsePosition;
  /** Planner keys and list indexes. */
  readonly path: readonly (string | number)[];
}

/** As `visitTargets`, with each of their paths. Slower, so only after an error. */
export function locateTargets(
  { root, position, dataJoins, visits }: ResponseTree,
  paths: Paths,
): readonly LocatedObject[] {
  const located: LocatedObject[] = [];
  const path: (string | number)[] = [];
  const visit: VisitTarget = (object, layout, positionHere) =>
    void located.push({ object, layout, position: positionHere, path: [...path] });
  walk(root, position, position.listDepth, pathTreeOf(paths), {
    dataJoins,
    visit,
    visits,
    weight: visitsPerLocated,
    path,
    objects: undefined,
  });
  return located;
}
