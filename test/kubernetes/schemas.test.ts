import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applied, kubernetes } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { isObject, type Json, type JsonObject, type Manifest, nameOf } from "./manifest.ts";
import { findSchemaProblems } from "./schemas.ts";

const manifests = new Map(
  applied.flatMap((folder) =>
    renderFolder(join(kubernetes, folder)).map((manifest) => [`${folder}: ${nameOf(manifest)}`, manifest] as const),
  ),
);

test.each([...manifests])("%s is what its schema says", (_, manifest) => {
  expect(findSchemaProblems(manifest)).toEqual([]);
});

/** Keys below these are anybody's. */
const freeMaps = new Set(["labels", "annotations", "matchLabels", "data", "requests", "limits", "parameters"]);

describe("a misspelt key is found", () => {
  const kinds = new Map([...manifests.values()].map((manifest) => [nameOf(manifest), manifest]));

  test.each([...kinds])("anywhere in %s", (_, manifest) => {
    const paths = listKeys(manifest, []);
    expect(paths.length).toBeGreaterThan(2);
    expect(paths.filter((path) => findSchemaProblems(misspell(manifest, path) as Manifest).length === 0)).toEqual([]);
  });
});

test.each([
  ["a text for a number", { kind: "Deployment", path: ["spec", "template", "spec", "terminationGracePeriodSeconds"] }],
  ["a number for a text", { kind: "Service", path: ["metadata", "name"] }],
  ["an object for a list", { kind: "NetworkPolicy", path: ["spec", "policyTypes"] }],
  ["a number for a text in a database", { kind: "Cluster", path: ["spec", "storage", "size"] }],
])("%s is found", (_, { kind, path }) => {
  const manifest = [...manifests.values()].find((candidate) => candidate.kind === kind)!;
  const wrong = (value: Json): Json => (typeof value === "string" ? 1 : typeof value === "number" ? "1" : {});
  expect(findSchemaProblems(manifest)).toEqual([]);
  expect(findSchemaProblems(change(manifest, path, (value) => wrong(value)) as Manifest)).not.toEqual([]);
});

test("a kind that nobody knows is found", () => {
  const manifest = { apiVersion: "apps/v1", kind: "Deploiment", metadata: { name: "users" } };
  expect(findSchemaProblems(manifest)).toEqual([": nobody knows apps/v1 Deploiment"]);
});

type Path = readonly (string | number)[];

/** The paths of all keys whose spelling is Kubernetes's. */
function listKeys(value: Json, path: Path): readonly Path[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => listKeys(entry, [...path, index]));
  const isFree = freeMaps.has(String(path.at(-1)));
  if (!isObject(value) || isFree) return [];
  const entries = Object.entries(value).filter(([key]) => !isOwnWord(key, path));
  return entries.flatMap(([key, child]) => [[...path, key], ...listKeys(child, [...path, key])]);
}

/** Of labels in a Service's selector, and of what tells kinds apart: misspelt it is another kind, which is found in another way. */
function isOwnWord(key: string, path: Path): boolean {
  return key.includes(".") || (path.length === 0 && ["apiVersion", "kind"].includes(key));
}

function misspell(manifest: JsonObject, path: Path): Json {
  const last = String(path.at(-1));
  return change(manifest, path.slice(0, -1), (holder) =>
    Object.fromEntries(
      Object.entries(holder as JsonObject).map(([key, value]) => [key === last ? `${key}s` : key, value]),
    ),
  );
}

function change(value: Json, [first, ...rest]: Path, make: (value: Json) => Json): Json {
  if (first === undefined) return make(value);
  if (Array.isArray(value)) return value.map((entry, index) => (index === first ? change(entry, rest, make) : entry));
  if (!isObject(value)) throw new Error(`there is nothing at ${first}`);
  return { ...value, [first]: change(value[String(first)] ?? null, rest, make) };
}
