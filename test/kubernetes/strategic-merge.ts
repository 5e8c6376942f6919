import { isObject, type Json, type JsonObject } from "./manifest.ts";

/** Lists whose entries Kubernetes merges by a key; any other list is replaced. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  env: "name",
  ports: "containerPort",
  volumes: "name",
  volumeMounts: "mountPath",
};

/**
 * Applies a strategic merge patch, as far as the overlays need it: null removes a key, objects are merged, and the lists above are
 * merged by key with the new entries first. Where the order is insignificant, it may differ from kustomize's.
 */
export function strategicMerge(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergeValue(key, merged[key], value);
  }
  return merged;
}

function mergeValue(key: string, target: Json | undefined, patch: Json): Json {
  if (isObject(patch)) return strategicMerge(target !== undefined && isObject(target) ? target : {}, patch);
  const mergeKey = mergeKeys[key];
  if (mergeKey === undefined || !isObjectList(patch) || !isObjectList(target)) return patch;
  return mergeLists(target, patch, mergeKey);
}

function mergeLists(target: readonly JsonObject[], patch: readonly JsonObject[], key: string): readonly JsonObject[] {
  const patched = target.map((entry) => {
    const change = patch.find((candidate) => candidate[key] === entry[key]);
    return change ? strategicMerge(entry, change) : entry;
  });
  const added = patch.filter((entry) => !target.some((existing) => existing[key] === entry[key]));
  return [...added, ...patched];
}

function isObjectList(value: Json | undefined): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every((entry: Json) => isObject(entry));
}
