// Stage 4 of 5: run. The field errors of a failed fetch, by their paths in the response to the client.
import type { CompiledFetch } from "../plan/compile/compiled-plan.ts";
import type { RepresentationSet } from "./representations.ts";
import type { FetchFailureCode } from "./subgraph-client.ts";
import type { ResponsePath, SubgraphError } from "./subgraph-response.ts";
import { type LocatedObject, locateTargets, type ResponseTree } from "./targets.ts";

/** Becomes one entry of the client's `errors[]`; stage 5 writes its message. */
export interface FieldError {
  readonly service: string;
  /** Undefined if the subgraph sent no path and no field is missing. */
  readonly path: ResponsePath | undefined;
  readonly reason: FieldErrorReason;
  /** Set on the last entry of a fetch with more errors than are listed: how many more. */
  readonly moreCount?: number;
}

type FieldErrorReason =
  | { readonly kind: "fetch-failed"; readonly code: FetchFailureCode }
  | { readonly kind: "subgraph-error"; readonly error: SubgraphError };

/** So that a failed fetch for a long list does not make a longer response than a successful one. */
const errorsPerFetchMax = 100;

export interface FieldErrorRecorder {
  /** Every field that the fetch was for. */
  addForAll(reason: FieldErrorReason): void;
  /** One path in the subgraph's response: `["_entities", 3, "name"]` or `["user", "name"]`; undefined if it is not known. */
  addAt(localPath: ResponsePath | undefined, reason: FieldErrorReason): void;
  finish(): readonly FieldError[];
}

/** Records the errors of one fetch. The response tree is walked for their paths only when there is an error. */
export function createFieldErrorRecorder(
  fetch: CompiledFetch,
  tree: ResponseTree,
  representations: RepresentationSet | undefined,
): FieldErrorRecorder {
  const entries: { path: ResponsePath | undefined; reason: FieldErrorReason }[] = [];
  let notListedCount = 0;
  let targets: readonly LocatedObject[] | undefined;
  let groups: ReadonlyMap<number, readonly LocatedObject[]> | undefined;
  const listTargets = () => (targets ??= locateTargets(tree, fetch.paths));
  const targetsByIndex = () => (groups ??= groupByRepresentation(listTargets(), representations));
  const commonPath = () => tree.position.toClientPath(pathBeforeLists(tree, fetch.paths[0] ?? []));

  function add(path: ResponsePath | undefined, reason: FieldErrorReason): void {
    const clientPath = path && path.length > 0 ? path : undefined;
    if (entries.length < errorsPerFetchMax) entries.push({ path: clientPath, reason });
    else notListedCount++;
  }

  function addForObjects(objects: readonly LocatedObject[], reason: FieldErrorReason): void {
    for (const object of objects) for (const path of pathsOfFields(object, fetch, tree)) add(path, reason);
  }

  function addAt(localPath: ResponsePath | undefined, reason: FieldErrorReason): void {
    const { index, steps } = readLocalPath(localPath, representations);
    if (index === undefined || steps === undefined) return add(commonPath(), reason);
    const objects = targetsByIndex().get(index) ?? [];
    if (steps.length === 0) return addForObjects(objects, reason);
    for (const { path, position } of objects) {
      add([...tree.position.toClientPath(path), ...position.toClientPath(steps.map(originalKey))], reason);
    }
  }

  return {
    addAt,
    addForAll: (reason) =>
      addForObjects(
        listTargets().filter((object) => wasRequested(object, representations)),
        reason,
      ),
    finish() {
      const { service } = fetch;
      const last = entries.at(-1);
      const errors: FieldError[] = entries.map(({ path, reason }) => ({ service, path, reason }));
      if (notListedCount > 0 && last)
        errors.push({ service, path: commonPath(), reason: last.reason, moreCount: notListedCount });
      return errors;
    },
  };
}

/** By representation. For a fetch of root fields all objects are group 0. */
function groupByRepresentation(
  objects: readonly LocatedObject[],
  representations: RepresentationSet | undefined,
): ReadonlyMap<number, readonly LocatedObject[]> {
  const groups = new Map<number, LocatedObject[]>();
  for (const located of objects) {
    const index = representations ? representations.indexOf(located.object) : 0;
    if (index === undefined) continue;
    const group = groups.get(index);
    if (group) group.push(located);
    else groups.set(index, [located]);
  }
  return groups;
}

function wasRequested({ object }: LocatedObject, representations: RepresentationSet | undefined): boolean {
  return representations === undefined || representations.indexOf(object) !== undefined;
}

/** The paths of the client's fields that the fetch was for; the object's own path if the client selected none of them. */
function pathsOfFields(
  { path, layout }: LocatedObject,
  fetch: CompiledFetch,
  { position }: ResponseTree,
): readonly ResponsePath[] {
  const start = position.toClientPath(path);
  const names = layout.responseNamesFrom(fetch);
  return names.length > 0 ? names.map((name) => [...start, name]) : [start];
}

interface LocalPath {
  /** Of the representation. */
  readonly index: number | undefined;
  /** From the entity, or from the root. */
  readonly steps: ResponsePath | undefined;
}

/** In an entity fetch a usable path starts with `["_entities", index]`. */
function readLocalPath(path: ResponsePath | undefined, representations: RepresentationSet | undefined): LocalPath {
  if (!representations) return { index: 0, steps: path && path.length > 0 ? path : undefined };
  const [, index, ...steps] = path ?? [];
  if (typeof index !== "number" || index >= representations.count || index < 0) {
    return { index: undefined, steps: undefined };
  }
  return { index, steps };
}

/** The planner renames a field that collides with another (`name__alias_0`), and renames it back in the data. */
function originalKey<PlanStep extends string | number>(step: PlanStep): PlanStep | string {
  return typeof step === "string" ? step.replace(/__alias_\d+$/, "") : step;
}

/** The part of a path before the first list or null: it exists in the response for certain. */
function pathBeforeLists({ root, position, joins }: ResponseTree, path: readonly string[]): readonly string[] {
  const steps: string[] = [];
  let at = position;
  let object = root;
  for (const key of path) {
    const access = at.layoutOf(object, joins)?.access(key);
    steps.push(key);
    const value = access?.read(object, joins);
    if (!access?.position || typeof value !== "object" || value === null || Array.isArray(value)) break;
    object = value as Readonly<Record<string, unknown>>;
    at = access.position;
  }
  return steps;
}
