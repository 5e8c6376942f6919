// The rendered manifests: they conform to Kubernetes' schemas, and agree with the supergraph and the documentation.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { appliedFolders, kubernetes, listFiles, root } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { isObject, type Json, type JsonObject, type Manifest, nameOf } from "./manifest.ts";
import { findSchemaProblems } from "./schemas.ts";
import { units } from "./units.ts";
import { admissionMetrics } from "../../kit/src/telemetry/metrics/declarations/process-metrics.ts";
import { serviceNames } from "../services.ts";

const manifests = appliedFolders.flatMap((folder) =>
  renderFolder(join(kubernetes, folder)).map((manifest) => ({ name: `${folder}: ${nameOf(manifest)}`, manifest })),
);

test("every manifest conforms to its schema", () => {
  const problems = manifests.flatMap(({ name, manifest }) =>
    findSchemaProblems(manifest).map((problem) => `${name}${problem}`),
  );
  expect(problems).toEqual([]);
  expect(manifests.length).toBeGreaterThan(100);
});

test.each([
  ["Deployment", { spec: { replica: 1 } }, "/spec/replica: unknown key"],
  ["Service", { metadata: { name: 1 } }, "/metadata/name: type"],
  ["Cluster", { spec: { instance: 1 } }, "/spec/instance: unknown key"],
  ["Cluster", { spec: { instances: "1" } }, "/spec/instances: is not a number"],
])("a misspelt key or a value of another type in a %s violates its schema", (kind, change: JsonObject, problem) => {
  const { manifest } = manifests.find((candidate) => candidate.manifest.kind === kind)!;
  const [[key, values]] = Object.entries(change) as [[string, JsonObject]];
  const changed = { ...manifest, [key]: { ...(manifest[key] as JsonObject), ...values } } as Manifest;
  expect(findSchemaProblems(changed).join()).toContain(problem);
});

test("the autoscalers that follow rejections keep the target of CPU time", () => {
  const readMetrics = (path: string) =>
    (parse(readFileSync(join(kubernetes, path), "utf8")) as IHorizontalPodAutoscaler).spec?.metrics ?? [];
  const [cpu] = readMetrics("base/every-autoscaler.yaml");
  const [sameCpu, rejections] = readMetrics("scale-by-rejections/rejections.yaml");
  expect(sameCpu).toEqual(cpu);
  const counter = rejections?.pods?.metric.name.replace("_per_second", "_total");
  expect(readFileSync(join(root, "docs/deploy-kubernetes.md"), "utf8")).toContain(`${counter}{`);
  expect(Object.keys(admissionMetrics)).toContain(counter);
});

const hasKubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;

test.runIf(hasKubectl).each(appliedFolders)("%s renders like kubectl kustomize", (folder) => {
  const text = execFileSync("kubectl", ["kustomize", join(kubernetes, folder)], { encoding: "utf8" });
  const printed = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const rendered = renderFolder(join(kubernetes, folder));
  expect(byName(withoutHashes(rendered))).toEqual(byName(withoutHashes(printed)));
  expect(rendered.length).toBe(printed.length);
});

test("every file is used by a kustomization", () => {
  const isKustomization = (path: string) => path.endsWith("kustomization.yaml");
  const used = new Set(listFiles().filter(isKustomization).flatMap(listUsed));
  const files = listFiles().filter((path) => !isKustomization(path));
  expect(files.filter((path) => !used.has(path))).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
});

/** Limit of an object's annotations. `kubectl apply` stores the applied object in one; a ConfigMap itself may have 1 MiB. */
const annotationBytesMax = 262_144;

test.each(["local", "production"])(
  "in %s the gateway mounts the composed supergraph and its settings, and the mounted files change with the ConfigMap",
  (overlay) => {
    const cluster = renderOverlay(overlay);
    const gateway = getPod(cluster, "gateway");
    const { SUPERGRAPH_FILE: file = "", SETTINGS_FILE: settings = "" } = environmentOf(cluster, gateway);
    expect(dirname(settings)).toBe(dirname(file));
    // The whole folder is mounted: a file that is mounted by subPath is never updated.
    const mount = gateway.container.volumeMounts?.find(({ mountPath }) => mountPath === dirname(file));
    expect(mount).toEqual({ name: "supergraph", mountPath: dirname(file), readOnly: true });
    // The name has no hash: with one, a change would replace the pods instead of the mounted file.
    const volume = gateway.spec.volumes?.find(({ name }) => name === "supergraph");
    expect(volume?.configMap).toEqual({ name: "supergraph" });
    const data = [file, settings].map((path) => [
      basename(path),
      readFileSync(join(root, "supergraph", basename(path)), "utf8"),
    ]);
    expect(cluster.get("ConfigMap", "supergraph").data).toEqual(Object.fromEntries(data));
    const applied = JSON.stringify(cluster.get("ConfigMap", "supergraph"));
    expect(Buffer.byteLength(applied)).toBeLessThan(annotationBytesMax / 2);
  },
);

test("the names of settings have a hash, so that a change replaces the pods that read them", () => {
  const cluster = renderOverlay("production");
  const references = getPod(cluster, "users").container.env?.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name);
  expect(new Set(references)).toContainEqual(expect.stringMatching(/^settings-[a-z0-9]{10}$/));
});

interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly replicasMax: number;
  /** Per replica, in thousandths of a core. */
  readonly cpuMilli: number;
  /** Per replica. */
  readonly memoryMib: number;
}

interface DatabaseSpec {
  readonly instances: number;
  readonly storage: { readonly size: string };
  readonly resources: { readonly requests: JsonObject };
}

const page = readFileSync(join(root, "docs/deploy-kubernetes.md"), "utf8");
const production = renderOverlay("production");

test("the documented footprint equals the resource requests of production", () => {
  const [, rows = ""] = /^\| workload \|.*\n\|[-|]+\n([^]*?)\n\n/m.exec(page) ?? [];
  const units = readUnits();
  const service = theOne(
    "each service",
    units.filter(({ name }) => serviceNames.includes(name)),
  );
  const database = theOne("each service's database", readDatabases());
  const others = units.filter(({ name }) => !serviceNames.includes(name));
  expect(rows).toBe(writeRows([service, ...others, database], documentedServices));
});

test("the page documents the number and size of the databases' volumes", () => {
  const volumes = production.all("Cluster").map(({ spec }) => {
    const { instances, storage } = spec as unknown as DatabaseSpec;
    return `${instances} volumes of ${storage.size.replace("Gi", " GiB")} for each database`;
  });
  expect(new Set(volumes).size).toBe(1);
  expect(page).toContain(volumes[0]);
});

function listUsed(path: string): readonly string[] {
  const { resources = [], components = [], patches = [] } = parse(readFileSync(join(kubernetes, path), "utf8"));
  const named = [...resources, ...components, ...patches.map((entry: { path?: string }) => entry.path ?? ".")];
  return named.map((name: string) => join(dirname(path), name));
}

/** kustomize has another hash in the names of generated ConfigMaps. */
function withoutHashes(manifests: readonly Manifest[]): readonly Manifest[] {
  return JSON.parse(JSON.stringify(manifests).replaceAll(/-[a-z0-9]{10}"/g, '-hash"')) as readonly Manifest[];
}

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

/** The number of services for which the page has the sums. */
const documentedServices = 4;

/** The workloads of all services, or of all databases, are equal. */
function theOne(name: string, workloads: readonly Workload[]): Workload {
  const [first = { name, replicas: 0, replicasMax: 0, cpuMilli: 0, memoryMib: 0 }] = workloads;
  for (const one of workloads) expect({ ...one, name }, one.name).toEqual({ ...first, name });
  return { ...first, name };
}

function writeRows(workloads: readonly Workload[], services: number): string {
  const times = ({ name }: Workload) => (name.startsWith("each ") ? services : 1);
  const sum = (of: (workload: Workload) => number) => workloads.reduce((total, one) => total + times(one) * of(one), 0);
  const row = (...cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  const cores = (cpuMilli: number) => String(cpuMilli / 1_000);
  const gib = (mib: number) => (mib / 1_024).toFixed(2);
  return [
    ...workloads.map(({ name, replicas, replicasMax, cpuMilli, memoryMib }) =>
      row(
        name,
        replicas,
        cores(cpuMilli),
        memoryMib,
        cores(cpuMilli * replicas),
        gib(memoryMib * replicas),
        replicasMax,
      ),
    ),
    row(
      "**all, with four services**",
      sum(({ replicas }) => replicas),
      "",
      "",
      `**${cores(sum(({ cpuMilli, replicas }) => cpuMilli * replicas))}**`,
      `**${gib(sum(({ memoryMib, replicas }) => memoryMib * replicas))}**`,
      sum(({ replicasMax }) => replicasMax),
    ),
    row(
      "all, scaled to the maximum",
      sum(({ replicasMax }) => replicasMax),
      "",
      "",
      cores(sum(({ cpuMilli, replicasMax }) => cpuMilli * replicasMax)),
      gib(sum(({ memoryMib, replicasMax }) => memoryMib * replicasMax)),
      "",
    ),
  ].join("\n");
}

function readUnits(): readonly Workload[] {
  return units.map(({ name }) => {
    const requests = getPod(production, name).container.resources?.requests ?? {};
    const { minReplicas = 0, maxReplicas } = production.get("HorizontalPodAutoscaler", name).spec ?? { maxReplicas: 0 };
    return { name, replicas: minReplicas, replicasMax: maxReplicas, ...toNumbers(requests) };
  });
}

function readDatabases(): readonly Workload[] {
  return production.all("Cluster").map(({ metadata, spec }) => {
    const { instances, resources } = spec as unknown as DatabaseSpec;
    return { name: metadata.name, replicas: instances, replicasMax: instances, ...toNumbers(resources.requests) };
  });
}

/** Converts `600m`, `1`, `256Mi`, `2Gi`. @throws Error for another unit. */
function toNumbers({ cpu, memory }: Readonly<Record<string, unknown>>): Pick<Workload, "cpuMilli" | "memoryMib"> {
  const [, number, isMilli] = /^(\d+)(m?)$/.exec(String(cpu)) ?? [];
  const [, size, unit] = /^(\d+)([MG]i)$/.exec(String(memory)) ?? [];
  if (number === undefined || size === undefined) throw new Error(`unknown units: ${String(cpu)}, ${String(memory)}`);
  return { cpuMilli: Number(number) * (isMilli ? 1 : 1_000), memoryMib: Number(size) * (unit === "Gi" ? 1_024 : 1) };
}
