// Stage 4 of 5: run. Turns the errors of one fetch into field errors with paths in the response to the client. accept-response.ts uses it for a
// fetch that failed, and for a response with errors or with entities that cannot be used.
import type { CompiledFetch, ObjectLayout, RepresentationField } from "../plan/compile/compiled-plan.ts";
import type { FetchPath } from "../plan/compile/fetch-path.ts";
import type { RepresentationSet } from "./representations.ts";
import type { FailedFetch, FetchFailureCode } from "./fetch/subgraph-client.ts";
import type { ResponsePath, SubgraphError } from "./fetch/subgraph-response.ts";
import { type LocatedObject, locateTargets, type ResponseTree } from "./targets.ts";

/** Becomes one entry of the client's `errors[]`; stage 5 writes its message (shape/client-error.ts). */
export interface FieldError {
  readonly service: string;
  /** In the response to the client. Undefined for an error at the root of the response. */
  readonly path: ResponsePath | undefined;
  readonly reason: FieldErrorReason;
  /**
   * Defined in one additional last entry of a fetch with more than 100 errors: the number of errors that are not listed. The path of this entry is
   * that to the fetch's first position, and ends at the first list.
   */
  readonly moreCount?: number;
}

type FieldErrorReason =
  | { readonly kind: "fetch-failed"; readonly code: FetchFailureCode | FailedFetch["code"] }
  | { readonly kind: "subgraph-error"; readonly error: SubgraphError };

/** The most errors of one fetch that are listed, so that a failed fetch for a long list does not make a longer response than a successful fetch. */
const errorsPerFetchMax = 100;

export interface FieldErrorRecorder {
  /** Adds an error for each client field that the fetch was for, at each object for which it was sent. */
  addForAll(reason: FieldErrorReason): void;
  /**
   * Adds an error for one path in the subgraph's response. A path to an entity adds one for each client field of it; a path to a field adds one at
   * each object for which the entity was requested.
   * @param localPath `["_entities", 3, "name"]` in an entity fetch: accept-response.ts has replaced an alias of `_entities`, and the first step is
   * not checked. `["user", "name"]` in a fetch of root fields. With any other path, or none, the error gets the path to the fetch's first position,
   * which ends at the first list.
   */
  addAt(localPath: ResponsePath | undefined, reason: FieldErrorReason): void;
  /** The errors in the order in which they were added. Called once, at the end. */
  finish(): readonly FieldError[];
}

/**
 * Records the errors of one fetch. The response tree is walked for their paths only when there is an error.
 * @param fetches of the plan: those that require fields of this one are not sent for its objects.
 */
export function createFieldErrorRecorder(
  fetch: CompiledFetch,
  tree: ResponseTree,
  representations: RepresentationSet | undefined,
  fetches: readonly CompiledFetch[],
): FieldErrorRecorder {
  const entries: { path: ResponsePath | undefined; reason: FieldErrorReason }[] = [];
  let notListedCount = 0;
  let allObjects: readonly LocatedObject[] | undefined;
  let objectsByIndex: ReadonlyMap<number, readonly LocatedObject[]> | undefined;
  const listObjects = () => (allObjects ??= locateTargets(tree, fetch.paths));
  const listObjectsByIndex = () => (objectsByIndex ??= groupByRepresentation(listObjects(), representations));
  // For an entry that is about the whole fetch: the path to the first of its positions. `[]` is for the type: a fetch has at least one path.
  const fetchPath = () => tree.position.toClientPath(pathToFirstList(tree, fetch.paths[0] ?? []));

  function add(path: ResponsePath | undefined, reason: FieldErrorReason): void {
    const clientPath = path && path.length > 0 ? path : undefined;
    if (entries.length < errorsPerFetchMax) entries.push({ path: clientPath, reason });
    else notListedCount++;
  }

  function addForObjects(objects: readonly LocatedObject[], reason: FieldErrorReason): void {
    for (const object of objects) for (const path of pathsOfFields(object, fetch, tree, fetches)) add(path, reason);
  }

  function addAt(localPath: ResponsePath | undefined, reason: FieldErrorReason): void {
    const local = readLocalPath(localPath, representations);
    if (!local) return add(fetchPath(), reason);
    // Each index has an object when its representation is written. In a merged tree, another response can replace the object later: the error is
    // then left out.
    const objects = listObjectsByIndex().get(local.index) ?? [];
    if (local.steps.length === 0) return addForObjects(objects, reason);
    // Planner keys in two parts: from the root to the object, and from the object to the field.
    const keysBelowObject = local.steps.map(toPlannerKey);
    for (const { path: pathToObject, position: objectPosition } of objects) {
      add([...tree.position.toClientPath(pathToObject), ...objectPosition.toClientPath(keysBelowObject)], reason);
    }
  }

  return {
    addAt,
    addForAll(reason) {
      const requested = listObjects().filter((object) => isRequested(object, representations));
      addForObjects(requested, reason);
    },
    finish() {
      const { service } = fetch;
      const last = entries.at(-1);
      const errors: FieldError[] = entries.map(({ path, reason }) => ({ service, path, reason }));
      if (notListedCount > 0 && last)
        errors.push({ service, path: fetchPath(), reason: last.reason, moreCount: notListedCount });
      return errors;
    },
  };
}

/** The objects by the index of their representation; objects without a representation are left out. In a fetch of root fields all have index 0. */
function groupByRepresentation(
  objects: readonly LocatedObject[],
  representations: RepresentationSet | undefined,
): ReadonlyMap<number, readonly LocatedObject[]> {
  const byIndex = new Map<number, LocatedObject[]>();
  for (const located of objects) {
    const index = representations ? representations.indexOf(located.object) : 0;
    if (index === undefined) continue;
    const sameIndex = byIndex.get(index);
    if (sameIndex) sameIndex.push(located);
    else byIndex.set(index, [located]);
  }
  return byIndex;
}

/** Whether a representation was sent for the object. */
function isRequested({ object }: LocatedObject, representations: RepresentationSet | undefined): boolean {
  return representations === undefined || representations.indexOf(object) !== undefined;
}

/** The paths of the client's fields that are missing without the fetch; the object's own path if there are none. */
function pathsOfFields(
  { path, layout }: LocatedObject,
  fetch: CompiledFetch,
  { position: rootPosition }: ResponseTree,
  fetches: readonly CompiledFetch[],
): readonly ResponsePath[] {
  const pathOfObject = rootPosition.toClientPath(path);
  const names = new Set(listMissingNames(layout, fetch, fetches));
  return names.size > 0 ? Array.from(names, (name) => [...pathOfObject, name]) : [pathOfObject];
}

/** The response names of the client's fields that the fetch provides, and of those that fetches provide which require a field of it. */
function listMissingNames(
  layout: ObjectLayout,
  fetch: CompiledFetch,
  fetches: readonly CompiledFetch[],
): readonly string[] {
  const isRequired = ({ value }: RepresentationField) =>
    value.kind !== "constant" && value.access.joinIndex === fetch.joinIndex && value.access.plainKey !== undefined;
  const dependent = fetches.filter(({ representations }) => representations?.fieldsOf(layout)?.some(isRequired));
  const namesOfDependent = dependent.flatMap((other) => listMissingNames(layout, other, fetches));
  return [...layout.responseNamesFrom(fetch), ...namesOfDependent];
}

interface LocalPath {
  /** Of the representation; 0 in a fetch of root fields. */
  readonly index: number;
  /** From the entity, or in a fetch of root fields from `data`. */
  readonly steps: ResponsePath;
}

/** Undefined for a path that is missing, empty, or without the index of a representation. */
function readLocalPath(
  path: ResponsePath | undefined,
  representations: RepresentationSet | undefined,
): LocalPath | undefined {
  if (!path || path.length === 0) return undefined;
  if (!representations) return { index: 0, steps: path };
  const [, index, ...steps] = path;
  if (typeof index !== "number" || index >= representations.count || index < 0) return undefined;
  return { index, steps };
}

const plannerAliasSuffix = /__alias_\d+$/;

/**
 * The planner gives a field an alias such as `code__alias_0` if another object type at the same place has a field `code` of another type, and
 * renames it back in the data (KeyRename); errors have the alias.
 */
function toPlannerKey(step: string | number): string | number {
  return typeof step === "string" ? step.replace(plannerAliasSuffix, "") : step;
}

/** The start of a path of planner keys, up to and including the key of the first list or null: further steps may not exist in the response. */
function pathToFirstList({ root, position, joins }: ResponseTree, path: FetchPath): readonly string[] {
  const steps: string[] = [];
  let currentPosition = position;
  let object = root;
  for (const { key } of path) {
    const access = currentPosition.layoutOf(object, joins)?.access(key);
    steps.push(key);
    const value = access?.read(object, joins);
    // A leaf field, or a field that no fetch provides here.
    if (!access?.position) break;
    // A null, a list, or a missing or invalid value: there is no single object below.
    if (typeof value !== "object" || value === null || Array.isArray(value)) break;
    object = value as Readonly<Record<string, unknown>>;
    currentPosition = access.position;
  }
  return steps;
}
