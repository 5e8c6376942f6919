// Stage 4 of 5: fetch it. The general way to put answers together: copies merged into one tree. Slower than joining, and right where two
// fetches bring parts of one object.
import type { KeyRename } from "../plan/compiled-plan.ts";

type Json = Record<string, unknown>;

export interface MergeRules {
  /** Whether an object type has this name; else an interface's, which says less. */
  readonly isObjectType: (typename: unknown) => boolean;
  readonly applies: (condition: string, typename: string) => boolean;
}

/** Copies `data`, with the plan's renames applied, into `target`. `data` stays as it is. */
export function mergeCopy(target: Json, data: Readonly<Json>, renames: readonly KeyRename[], rules: MergeRules): void {
  const copy = copyValue(data) as Json;
  for (const { path, to } of renames) rename(copy, path, to, rules);
  mergeObjects(target, copy, rules);
}

function copyValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly unknown[]).map(copyValue);
  const copy: Json = {};
  for (const [key, part] of Object.entries(value)) if (key !== "__proto__") copy[key] = copyValue(part);
  return copy;
}

/** Objects, and lists of one length, are merged part by part. A null never takes away what another fetch has brought. */
function mergeObjects(target: Json, source: Json, rules: MergeRules): void {
  for (const [key, value] of Object.entries(source)) {
    if (key === "__typename" && Object.hasOwn(target, key) && !rules.isObjectType(value)) continue;
    const there = Object.hasOwn(target, key) ? target[key] : undefined;
    target[key] = mergeValues(there, value, rules);
  }
}

function mergeValues(there: unknown, value: unknown, rules: MergeRules): unknown {
  if (there === null || there === undefined) return value;
  if (value === null || value === undefined) return there;
  if (Array.isArray(there) && Array.isArray(value) && there.length === value.length) {
    return there.map((entry, i) => mergeValues(entry, (value as readonly unknown[])[i], rules));
  }
  if (!isObject(there) || !isObject(value)) return value;
  if (!areTwo(there, value, rules)) mergeObjects(there, value, rules);
  return there;
}

/** Objects of two types: where subgraphs disagree about a list, what was there first stays whole. */
function areTwo({ __typename: one }: Json, { __typename: other }: Json, { isObjectType }: MergeRules): boolean {
  return one !== other && isObjectType(one) && isObjectType(other);
}

function rename(value: unknown, path: readonly string[], to: string, rules: MergeRules): void {
  if (Array.isArray(value)) {
    for (const entry of value as readonly unknown[]) rename(entry, path, to, rules);
    return;
  }
  const [step, ...rest] = path;
  if (!isObject(value) || step === undefined) return;
  const condition = step.startsWith("... on ") ? step.slice("... on ".length) : undefined;
  if (condition !== undefined) {
    const typename = value["__typename"];
    if (typeof typename !== "string" || rules.applies(condition, typename)) rename(value, rest, to, rules);
  } else if (rest.length > 0) rename(value[step], rest, to, rules);
  else if (Object.hasOwn(value, step)) {
    value[to] = value[step];
    delete value[step];
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
