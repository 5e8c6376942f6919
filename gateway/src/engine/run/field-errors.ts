// Stage 4 of 5: run. Turns the errors of one fetch into field errors with paths in the response to the client.
import type {
  CompiledFetch,
  ObjectLayout,
  RepresentationField,
  ResponsePosition,
} from "../plan/compile/compiled-plan.ts";
import type { FetchPath } from "../plan/compile/fetch-path.ts";
import type { RepresentationSet } from "./representations.ts";
import type { FailedFetch, FetchFailureCode } from "./fetch/subgraph-client.ts";
import type { ResponsePath, SubgraphError } from "./fetch/subgraph-response.ts";
import { type LocatedObject, locateTargets, type ResponseTree } from "./targets.ts";

export interface FieldError {
  readonly service: string;
  /** Undefined for an error at the root of the response. */
  readonly path: ResponsePath | undefined;
  readonly reason: FieldErrorReason;
  /** In one last entry: the number of errors beyond the first 100. Its path is that to the fetch's first position. */
  readonly moreCount?: number;
}

export type FieldErrorReason =
  | {
      readonly kind: "fetch-failed";
      readonly code: FetchFailureCode | FailedFetch["code"];
      readonly retryAfterSeconds?: number | undefined;
    }
  | { readonly kind: "subgraph-error"; readonly error: SubgraphError };

/** So that a failed fetch for a long list does not make a longer response than a successful one. */
const errorsPerFetchMax = 100;

export interface FieldErrorRecorder {
  /** At each object for which the fetch was sent. */
  addForAll(reason: FieldErrorReason): void;
  /**
   * A path to an entity adds an error for each client field of it; a path to a field one at each object for which the entity was requested.
   * @param localPath `["_entities", 3, "name"]` in an entity fetch, `["user", "name"]` in one of root fields. Any other gets the path to the first
   * position, up to its first list.
   */
  addAt(localPath: ResponsePath | undefined, reason: FieldErrorReason): void;
  finish(): readonly FieldError[];
}

/**
 * Walks the response tree only when there is an error.
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
  let objectsByIndex: ReadonlyMap<number | undefined, readonly LocatedObject[]> | undefined;
  const listObjects = () => (allObjects ??= locateTargets(tree, fetch.paths));
  /** Undefined for an object without a representation. In a fetch of root fields, all have index 0. */
  const indexOf = ({ object }: LocatedObject) => (representations ? representations.indexOf(object) : 0);
  const listObjectsByIndex = () => (objectsByIndex ??= Map.groupBy(listObjects(), indexOf));
  // `[]` is for the type: a fetch has at least one path.
  const fetchPath = () => tree.position.toClientPath(pathToFirstList(tree, fetch.paths[0] ?? []));

  // Beyond the first 100 errors no path is made, so that the time does not grow with errors times objects.
  const isFull = () => entries.length >= errorsPerFetchMax;
  const namesOf = memoize((layout: ObjectLayout) => [...new Set(listMissingNames(layout, fetch, fetches))]);
  const errorsOf = ({ layout }: LocatedObject) => Math.max(1, namesOf(layout).length);
  const objectsOf = (index: number) => listObjectsByIndex().get(index) ?? [];
  const countAllErrorsOf = memoize((index: number) => objectsOf(index).reduce((sum, one) => sum + errorsOf(one), 0));

  function add(path: ResponsePath | undefined, reason: FieldErrorReason): void {
    const clientPath = path && path.length > 0 ? path : undefined;
    if (isFull()) notListedCount++;
    else entries.push({ path: clientPath, reason });
  }

  function addForObjects(objects: readonly LocatedObject[], reason: FieldErrorReason): void {
    for (const object of objects) {
      if (isFull()) notListedCount += errorsOf(object);
      else for (const path of pathsOfFields(object, namesOf(object.layout), tree)) add(path, reason);
    }
  }

  function addAt(localPath: ResponsePath | undefined, reason: FieldErrorReason): void {
    const local = readLocalPath(localPath, representations);
    if (!local) return add(fetchPath(), reason);
    // In a merged tree, another response can replace the object later: the error is then left out.
    const objects = objectsOf(local.index);
    const isOfEntity = local.steps.length === 0;
    if (isFull()) return void (notListedCount += isOfEntity ? countAllErrorsOf(local.index) : objects.length);
    if (isOfEntity) return addForObjects(objects, reason);
    for (const [i, { path: pathToObject, position: objectPosition, layout }] of objects.entries()) {
      if (isFull()) return void (notListedCount += objects.length - i);
      const pathBelow = toClientPathBelow(objectPosition, local.steps);
      const isForOtherTypes = pathBelow.length > 0 && !isNeeded(layout, String(local.steps[0]), fetches);
      if (!isForOtherTypes) add([...tree.position.toClientPath(pathToObject), ...pathBelow], reason);
    }
  }

  return {
    addAt,
    addForAll(reason) {
      const requested = listObjects().filter((object) => indexOf(object) !== undefined);
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

function memoize<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}

function pathsOfFields(
  { path }: LocatedObject,
  names: readonly string[],
  { position: rootPosition }: ResponseTree,
): readonly ResponsePath[] {
  const pathOfObject = rootPosition.toClientPath(path);
  return names.length > 0 ? names.map((name) => [...pathOfObject, name]) : [pathOfObject];
}

function listMissingNames(
  layout: ObjectLayout,
  fetch: CompiledFetch,
  fetches: readonly CompiledFetch[],
): readonly string[] {
  const isRequired = ({ value }: RepresentationField) =>
    value.kind !== "constant" && value.access.joinIndex === fetch.joinIndex && value.access.plainKey !== undefined;
  const dependent = fetches.filter(({ representationPlan }) => representationPlan?.fieldsOf(layout)?.some(isRequired));
  const namesOfDependent = dependent.flatMap((other) => listMissingNames(layout, other, fetches));
  return [...layout.responseNamesFrom(fetch), ...namesOfDependent];
}

/**
 * By the client, or by a fetch that requires it. A field of an interface object is requested of all objects, even if the client selects it only of
 * those of one type.
 */
function isNeeded(layout: ObjectLayout, fetchKey: string, fetches: readonly CompiledFetch[]): boolean {
  const keys = [fetchKey, fetchKey.replace(plannerAliasSuffix, "")];
  return keys.some((key) => {
    if (layout.selects(key)) return true;
    const access = layout.access(key);
    return fetches.some(({ representationPlan }) =>
      representationPlan
        ?.fieldsOf(layout)
        ?.some(({ value }) => value.kind !== "constant" && access !== undefined && value.access === access),
    );
  });
}

interface LocalPath {
  readonly index: number;
  readonly steps: ResponsePath;
}

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
 * The planner gives a field an alias such as `code__alias_0` if another type at the same place has a field of that name; errors have the alias. A
 * client's own alias may look like it: the longer path is the one whose fields exist.
 */
function toClientPathBelow(position: ResponsePosition, steps: ResponsePath): ResponsePath {
  const plannerKeys = steps.map((step) => (typeof step === "string" ? step.replace(plannerAliasSuffix, "") : step));
  const [asSent, renamed] = [position.toClientPath(steps), position.toClientPath(plannerKeys)];
  return renamed.length > asSent.length ? renamed : asSent;
}

/** Up to the first list or null: further steps may not exist in the response. */
function pathToFirstList({ root, position, dataJoins }: ResponseTree, path: FetchPath): readonly string[] {
  const steps: string[] = [];
  let currentPosition = position;
  let object = root;
  for (const { key } of path) {
    const access = currentPosition.layoutOf(object, dataJoins)?.access(key);
    steps.push(key);
    const value = access?.read(object, dataJoins);
    // A leaf field, or a field that no fetch provides here.
    if (!access?.position) break;
    if (typeof value !== "object" || value === null || Array.isArray(value)) break;
    object = value as Readonly<Record<string, unknown>>;
    currentPosition = access.position;
  }
  return steps;
}
