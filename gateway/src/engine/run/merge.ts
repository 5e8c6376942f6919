// Stage 4 of 5: run. Merges copies of responses into one tree, for accept-response.ts. Slower than joining (data-joins.ts); used only for plans in which
// two fetches provide fields of one object without a key (`CompiledPlan.isMerged`).
import type { Json } from "@tributary/kit/json/json";
import { readMember } from "@tributary/kit/json/json-span";
import type { KeyRename } from "../plan/compile/compiled-plan.ts";

type MutableJson = Record<string, unknown>;

export interface MergeRules {
  /** The name of an interface is less specific: it never replaces another `__typename`. */
  readonly isObjectType: (typename: unknown) => boolean;
  readonly applies: (typeCondition: string, typename: string) => boolean;
}

/** Copies `data`, with the plan's renames applied, into `target`, which it changes. Does not change `data`. */
export function mergeCopy(target: MutableJson, data: Json, renames: readonly KeyRename[], rules: MergeRules): void {
  const copy = copyData(data);
  for (const { path, to } of renames) rename(copy, path, to, rules);
  mergeObjects(target, copy, rules);
}

/** Subgraphs may nest data to any depth, so these functions use an explicit stack. Lists count as objects whose keys are indexes. */

function copyData(data: Json): MutableJson {
  const copy: MutableJson = {};
  const pending: { readonly from: Json; readonly to: MutableJson }[] = [{ from: data, to: copy }];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    for (const [key, value] of Object.entries(pair.from)) {
      // Assigning this key would change the prototype of the copy.
      if (key === "__proto__") continue;
      if (isComposite(value)) {
        const empty = createEmpty(value);
        pair.to[key] = empty;
        pending.push({ from: value, to: empty });
      } else {
        pair.to[key] = readMember(pair.from, key);
      }
    }
  }
  return copy;
}

/**
 * Member by member; any other value replaces the previous one. But a null replaces no value, an interface's name no `__typename`, and objects of
 * different types are not merged.
 */
function mergeObjects(target: MutableJson, source: MutableJson, rules: MergeRules): void {
  const pending: { readonly into: MutableJson; readonly from: MutableJson }[] = [{ into: target, from: source }];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const { into, from } = pair;
    for (const [key, value] of Object.entries(from)) {
      const isPresent = Object.hasOwn(into, key);
      if (key === "__typename" && isPresent && !rules.isObjectType(value)) continue;
      const present = isPresent ? into[key] : undefined;
      const isMissing = present === null || present === undefined;
      if (!isMissing && (value === null || value === undefined)) continue;
      if (!isComposite(present) || !isComposite(value) || !areMergeable(present, value)) into[key] = value;
      else if (!haveDifferentTypes(present, value, rules)) pending.push({ into: present, from: value });
    }
  }
}

function isComposite(value: unknown): value is MutableJson {
  return typeof value === "object" && value !== null;
}

function createEmpty(model: MutableJson): MutableJson {
  return (Array.isArray(model) ? [] : {}) as MutableJson;
}

/** Two objects, or two lists of the same length. */
function areMergeable(present: MutableJson, value: MutableJson): boolean {
  if (Array.isArray(present)) return Array.isArray(value) && present.length === value.length;
  return !Array.isArray(value);
}

/** Whether two objects have different object types. If subgraphs disagree about the entries of a list, the first subgraph's object is not changed. */
function haveDifferentTypes(present: MutableJson, value: MutableJson, { isObjectType }: MergeRules): boolean {
  const presentType = present["__typename"];
  const valueType = value["__typename"];
  return presentType !== valueType && isObjectType(presentType) && isObjectType(valueType);
}

function rename(value: unknown, path: readonly string[], to: string, rules: MergeRules): void {
  for (const object of listObjects(value)) renameIn(object, path, to, rules);
}

const typeConditionPrefix = "... on ";

function renameIn(object: MutableJson, [step, ...rest]: readonly string[], to: string, rules: MergeRules): void {
  if (step === undefined) return;
  if (step.startsWith(typeConditionPrefix)) {
    const typeCondition = step.slice(typeConditionPrefix.length);
    const typename = object["__typename"];
    const applies = typeof typename !== "string" || rules.applies(typeCondition, typename);
    if (applies) renameIn(object, rest, to, rules);
    return;
  }
  if (rest.length > 0) {
    rename(object[step], rest, to, rules);
    return;
  }
  if (!Object.hasOwn(object, step)) return;
  object[to] = object[step];
  delete object[step];
}

/** The object itself, or the objects of a list and of lists within it. */
function listObjects(value: unknown): readonly MutableJson[] {
  const objects: MutableJson[] = [];
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) {
      for (const entry of next as readonly unknown[]) pending.push(entry);
    } else if (isComposite(next)) {
      objects.push(next);
    }
  }
  return objects;
}
