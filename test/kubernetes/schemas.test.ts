import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { appliedFolders, kubernetes } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { isObject, type Json, type JsonObject, type Manifest, nameOf } from "./manifest.ts";
import { findSchemaProblems } from "./schemas.ts";

const manifests = new Map(
  appliedFolders.flatMap((folder) =>
    renderFolder(join(kubernetes, folder)).map((manifest) => [`${folder}: ${nameOf(manifest)}`, manifest] as const),
  ),
);

test.each([...manifests])("%s conforms to its schema", (_, manifest) => {
  expect(findSchemaProblems(manifest)).toEqual([]);
});

/** Maps whose keys the schema does not define. */
const freeMaps = new Set(["labels", "annotations", "matchLabels", "data", "requests", "limits", "parameters"]);

describe("a misspelt key is a violation", () => {
  const kinds = new Map([...manifests.values()].map((manifest) => [nameOf(manifest), manifest]));

  test.each([...kinds])("anywhere in %s", (_, manifest) => {
    const paths = listKeys(manifest, []);
    expect(paths.length).toBeGreaterThan(2);
    expect(paths.filter((path) => findSchemaProblems(misspell(manifest, path) as Manifest).length === 0)).toEqual([]);
  });
});

test.each([
  [
    "a string instead of a number",
    { kind: "Deployment", path: ["spec", "template", "spec", "terminationGracePeriodSeconds"] },
  ],
  ["a number instead of a string", { kind: "Service", path: ["metadata", "name"] }],
  ["an object instead of a list", { kind: "NetworkPolicy", path: ["spec", "policyTypes"] }],
  ["a number instead of a string in a database", { kind: "Cluster", path: ["spec", "storage", "size"] }],
])("%s is a violation", (_, { kind, path }) => {
  const manifest = [...manifests.values()].find((candidate) => candidate.kind === kind)!;
  const withOtherType = (value: Json): Json => (typeof value === "string" ? 1 : typeof value === "number" ? "1" : {});
  expect(findSchemaProblems(manifest)).toEqual([]);
  expect(findSchemaProblems(change(manifest, path, (value) => withOtherType(value)) as Manifest)).not.toEqual([]);
});

test("an unknown kind is a violation", () => {
  const manifest = { apiVersion: "apps/v1", kind: "Deploiment", metadata: { name: "users" } };
  expect(findSchemaProblems(manifest)).toEqual([": unknown kind apps/v1 Deploiment"]);
});

type Path = readonly (string | number)[];

/** The paths of all keys that the schemas define. */
function listKeys(value: Json, path: Path): readonly Path[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => listKeys(entry, [...path, index]));
  const isFree = freeMaps.has(String(path.at(-1)));
  if (!isObject(value) || isFree) return [];
  const entries = Object.entries(value).filter(([key]) => !isUncheckedKey(key, path));
  return entries.flatMap(([key, child]) => [[...path, key], ...listKeys(child, [...path, key])]);
}

/** True for a label in a selector, and for apiVersion and kind: with a misspelt one the kind is unknown. */
function isUncheckedKey(key: string, path: Path): boolean {
  return key.includes(".") || (path.length === 0 && ["apiVersion", "kind"].includes(key));
}

function misspell(manifest: JsonObject, path: Path): Json {
  const last = String(path.at(-1));
  return change(manifest, path.slice(0, -1), (parent) =>
    Object.fromEntries(
      Object.entries(parent as JsonObject).map(([key, value]) => [key === last ? `${key}s` : key, value]),
    ),
  );
}

function change(value: Json, [first, ...rest]: Path, make: (value: Json) => Json): Json {
  if (first === undefined) return make(value);
  if (Array.isArray(value)) return value.map((entry, index) => (index === first ? change(entry, rest, make) : entry));
  if (!isObject(value)) throw new Error(`the manifest has no ${first}`);
  return { ...value, [first]: change(value[String(first)] ?? null, rest, make) };
}
