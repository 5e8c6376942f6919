// Stage 4 of 5: run. Merges copies of responses into one tree. Slower than joining; only for plans with `CompiledPlan.isMerged`.
import type { KeyRename } from "../plan/compile/compiled-plan.ts";

type Json = Record<string, unknown>;

export interface MergeRules {
  /** The name of an interface is less specific: it never replaces another `__typename`. */
  readonly isObjectType: (typename: unknown) => boolean;
  readonly applies: (typeCondition: string, typename: string) => boolean;
}

/** Changes `target`, not `data`. */
export function mergeCopy(target: Json, data: Readonly<Json>, renames: readonly KeyRename[], rules: MergeRules): void {
  const copy = copyData(data);
  for (const { path, to } of renames) rename(copy, path, to, rules);
  mergeObjects(target, copy, rules);
}

/** Subgraphs may nest data to any depth, so these functions use an explicit stack. Lists count as objects whose keys are indexes. */

function copyData(data: Readonly<Json>): Json {
  const copy: Json = {};
  const pending: { readonly from: Readonly<Json>; readonly to: Json }[] = [{ from: data, to: copy }];
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    for (const [key, value] of Object.entries(pair.from)) {
      // Assigning this key would change the prototype of the copy.
      if (key === "__proto__") continue;
      if (isComposite(value)) {
        const empty = createEmpty(value);
        pair.to[key] = empty;
        pending.push({ from: value, to: empty });
      } else {
        pair.to[key] = value;
      }
    }
  }
  return copy;
}

/**
 * Member by member; any other value replaces the previous one. But a null replaces no value, an interface's name no `__typename`, and objects of
 * different types are not merged.
 */
function mergeObjects(target: Json, source: Json, rules: MergeRules): void {
  const pending: { readonly into: Json; readonly from: Json }[] = [{ into: target, from: source }];
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

function isComposite(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function createEmpty(model: Json): Json {
  return (Array.isArray(model) ? [] : {}) as Json;
}

function areMergeable(present: Json, value: Json): boolean {
  if (Array.isArray(present)) return Array.isArray(value) && present.length === value.length;
  return !Array.isArray(value);
}

/** If subgraphs disagree about the entries of a list, the first subgraph's object is not changed. */
function haveDifferentTypes(present: Json, value: Json, { isObjectType }: MergeRules): boolean {
  const presentType = present["__typename"];
  const valueType = value["__typename"];
  return presentType !== valueType && isObjectType(presentType) && isObjectType(valueType);
}

function rename(value: unknown, path: readonly string[], to: string, rules: MergeRules): void {
  for (const object of listObjects(value)) renameIn(object, path, to, rules);
}

const typeConditionPrefix = "... on ";

function renameIn(object: Json, [step, ...rest]: readonly string[], to: string, rules: MergeRules): void {
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

function listObjects(value: unknown): readonly Json[] {
  const objects: Json[] = [];
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
