import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { appliedFolders, kubernetes, listFiles } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { isObject, type Json, type Manifest, nameOf } from "./manifest.ts";

const hasKubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;

test.runIf(hasKubectl).each(appliedFolders)("%s renders like kubectl kustomize", (folder) => {
  const text = execFileSync("kubectl", ["kustomize", join(kubernetes, folder)], { encoding: "utf8" });
  const printed = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const rendered = renderFolder(join(kubernetes, folder));
  expect(byName(rendered)).toEqual(byName(printed));
  expect(rendered.length).toBe(printed.length);
});

test("every file is used by a kustomization", () => {
  const isKustomization = (path: string) => path.endsWith("kustomization.yaml");
  const used = new Set(listFiles().filter(isKustomization).flatMap(listUsed));
  const files = listFiles().filter((path) => !isKustomization(path));
  expect(files.filter((path) => !used.has(path))).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});

function listUsed(path: string): readonly string[] {
  const { resources = [], components = [], patches = [] } = parse(readFileSync(join(kubernetes, path), "utf8"));
  const named = [...resources, ...components, ...patches.map((entry: { path?: string }) => entry.path ?? ".")];
  return named.map((name: string) => join(dirname(path), name));
}

let editedFolder = "";
afterEach(() => rmSync(editedFolder, { recursive: true, force: true }));

test.each([
  ["a missing resource", "base/kustomization.yaml", "  - users.yaml", "  - user.yaml", "user.yaml"],
  [
    "a patch without a target",
    "base/kustomization.yaml",
    "kind: HorizontalPod",
    "kind: HorizontalPods",
    "has no target",
  ],
  ["a duplicate name", "base/posts.yaml", "name: posts", "name: users", "is defined twice"],
  ["an unsupported field", "base/kustomization.yaml", "namespace:", "nameSpace:", "nameSpace"],
])("%s is an error", (_, path, from, to, message) => {
  editedFolder = mkdtempSync(join(tmpdir(), "kubernetes-"));
  cpSync(kubernetes, editedFolder, { recursive: true });
  const file = join(editedFolder, path);
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  expect(() => renderFolder(join(editedFolder, "base"))).toThrow(message);
});

/** The manifests by name. The order of named list entries is insignificant, so they are sorted. */
function byName(manifests: readonly Manifest[]) {
  return Object.fromEntries(manifests.map((manifest) => [nameOf(manifest), sorted(manifest)]));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) {
    const entries = value.map(sorted);
    return entries.every((entry) => isObject(entry) && typeof entry["name"] === "string")
      ? entries.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
      : entries;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, child]): [string, Json] => [key, sorted(child)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
