// Stage 4 of 5: run. Merges copies of responses into one tree, for accept-response.ts. Slower than joining (joins.ts); used only for plans in which
// two fetches provide fields of one object without a key (`CompiledPlan.isMerged`).
import type { KeyRename } from "../plan/compile/compiled-plan.ts";

type Json = Record<string, unknown>;

export interface MergeRules {
  /** Whether it names an object type. The name of an interface is less specific, so it never replaces another `__typename`. */
  readonly isObjectType: (typename: unknown) => boolean;
  /** Whether a type condition includes objects of this type. */
  readonly applies: (typeCondition: string, typename: string) => boolean;
}

/** Copies `data`, with the plan's renames applied, into `target`, which it changes. Does not change `data`. */
export function mergeCopy(target: Json, data: Readonly<Json>, renames: readonly KeyRename[], rules: MergeRules): void {
  const copy = copyData(data);
  for (const { path, to } of renames) rename(copy, path, to, rules);
  mergeObjects(target, copy, rules);
}

/*
 * A subgraph may nest data, such as the value of a custom scalar, to any depth, so the functions below use an explicit stack. They treat
 * lists as objects whose keys are indexes.
 */

function copyData(data: Readonly<Json>): Json {
  const copy: Json = {};
  const pending: { readonly from: Readonly<Json>; readonly to: Json }[] = [{ from: data, to: copy }];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    for (const [key, value] of Object.entries(pair.from)) {
      if (key === "__proto__") continue;
      const below = isComposite(value) ? createEmpty(value) : undefined;
      pair.to[key] = below ?? value;
      if (below) pending.push({ from: value as Json, to: below });
    }
  }
  return copy;
}

/** Merges objects, and lists of the same length, member by member; any other value replaces the previous one. A null never replaces a value. */
function mergeObjects(target: Json, source: Json, rules: MergeRules): void {
  const pending: { readonly into: Json; readonly from: Json }[] = [{ into: target, from: source }];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const { into, from } = pair;
    for (const [key, value] of Object.entries(from)) {
      if (key === "__typename" && Object.hasOwn(into, key) && !rules.isObjectType(value)) continue;
      const present = Object.hasOwn(into, key) ? into[key] : undefined;
      if (present === null || present === undefined) into[key] = value;
      else if (value === null || value === undefined) continue;
      else if (!isComposite(present) || !isComposite(value) || !areMergeable(present, value)) into[key] = value;
      else if (!areOfTwoTypes(present, value, rules)) pending.push({ into: present, from: value });
    }
  }
}

function isComposite(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function createEmpty(model: Json): Json {
  return (Array.isArray(model) ? [] : {}) as Json;
}

/** Two objects, or two lists of the same length. */
function areMergeable(present: Json, value: Json): boolean {
  if (Array.isArray(present)) return Array.isArray(value) && present.length === value.length;
  return !Array.isArray(value);
}

/** Whether two objects have different object types. If subgraphs disagree about the entries of a list, the first subgraph's object is not changed. */
function areOfTwoTypes({ __typename: one }: Json, { __typename: other }: Json, { isObjectType }: MergeRules): boolean {
  return one !== other && isObjectType(one) && isObjectType(other);
}

function rename(value: unknown, path: readonly string[], to: string, rules: MergeRules): void {
  for (const object of listObjects(value)) renameIn(object, path, to, rules);
}

function renameIn(object: Json, [step, ...rest]: readonly string[], to: string, rules: MergeRules): void {
  if (step === undefined) return;
  const typeCondition = step.startsWith("... on ") ? step.slice("... on ".length) : undefined;
  if (typeCondition !== undefined) {
    const typename = object["__typename"];
    if (typeof typename !== "string" || rules.applies(typeCondition, typename)) renameIn(object, rest, to, rules);
  } else if (rest.length > 0) rename(object[step], rest, to, rules);
  else if (Object.hasOwn(object, step)) {
    object[to] = object[step];
    delete object[step];
  }
}

/** The object itself, or the objects of a list and of lists within it. */
function listObjects(value: unknown): readonly Json[] {
  const objects: Json[] = [];
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) for (const entry of next as readonly unknown[]) pending.push(entry);
    else if (isComposite(next)) objects.push(next);
  }
  return objects;
}
