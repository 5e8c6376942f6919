import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getPod, renderOverlay } from "./cluster.ts";
import { root } from "./folders.ts";
import type { JsonObject } from "./manifest.ts";
import { units } from "./units.ts";

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
const cluster = renderOverlay("production");

test("the documented footprint equals the resource requests of production", () => {
  const [, rows = ""] = /^\| workload \|.*\n\|[-|]+\n([^]*?)\n\n/m.exec(page) ?? [];
  expect(rows).toBe(writeRows([...readUnits(), ...readDatabases()]));
});

test("the page documents the number and size of the databases' volumes", () => {
  const sizes = cluster.all("Cluster").flatMap(({ spec }) => {
    const { instances, storage } = spec as unknown as DatabaseSpec;
    return Array<string>(instances).fill(storage.size);
  });
  expect(new Set(sizes).size).toBe(1);
  expect(page).toContain(`${sizes.length} volumes of ${sizes[0]?.replace("Gi", " GiB")}`);
});

function writeRows(workloads: readonly Workload[]): string {
  const sum = (of: (workload: Workload) => number) => workloads.reduce((total, one) => total + of(one), 0);
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
      "**all**",
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
    const requests = getPod(cluster, name).container.resources?.requests ?? {};
    const { minReplicas = 0, maxReplicas } = cluster.get("HorizontalPodAutoscaler", name).spec ?? { maxReplicas: 0 };
    return { name, replicas: minReplicas, replicasMax: maxReplicas, ...toNumbers(requests) };
  });
}

function readDatabases(): readonly Workload[] {
  return cluster.all("Cluster").map(({ metadata, spec }) => {
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
