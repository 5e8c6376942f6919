import { join } from "node:path";
import type { Environment } from "../../kit/src/process/env.ts";
import type { Gateway, HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import type { IDeployment } from "kubernetes-models/apps/v1";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import type { IJob } from "kubernetes-models/batch/v1";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1";
import type { IConfigMap, IContainer, INamespace, IPodTemplateSpec, IService } from "kubernetes-models/v1";
import { kubernetes, parts } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { hasLabels, type JsonObject } from "./manifest.ts";

/** The kinds that the tests look at, with the types that the schemas were checked for. */
interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly Deployment: IDeployment;
  readonly Gateway: Gateway;
  readonly HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  readonly HTTPRoute: HTTPRoute;
  readonly Job: IJob;
  readonly Namespace: INamespace;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
  readonly Service: IService;
  /** CloudNativePG's. */
  readonly Cluster: { readonly metadata: { readonly name: string }; readonly spec: JsonObject };
  readonly ServiceAccount: JsonObject;
  readonly Secret: JsonObject;
}

/** All that an overlay applies, its Jobs too. */
export interface Cluster {
  all<K extends keyof Kinds>(kind: K): readonly Kinds[K][];
  /** @throws Error when there is none. */
  get<K extends keyof Kinds>(kind: K, name: string): Kinds[K];
}

export function renderOverlay(overlay: string): Cluster {
  // What runs has the ground in it.
  const folders = (parts[overlay] ?? []).filter((part) => part !== "ground");
  const manifests = folders.flatMap((folder) => renderFolder(join(kubernetes, "overlays", overlay, folder)));
  const all = <K extends keyof Kinds>(kind: K) =>
    manifests.filter((manifest) => manifest.kind === kind) as unknown as readonly Kinds[K][];
  return {
    all,
    get(kind, name) {
      const found = all(kind).find(
        (manifest) => (manifest as { metadata?: { name?: string } }).metadata?.name === name,
      );
      if (!found) throw new Error(`There is no ${kind} ${name}`);
      return found;
    },
  };
}

/** A pod that something starts. */
export interface Pod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: NonNullable<IPodTemplateSpec["spec"]>;
  readonly container: IContainer;
}

/** The pods of all Deployments and Jobs; each has one container. */
export function listPods(cluster: Cluster): readonly Pod[] {
  return [...cluster.all("Deployment"), ...cluster.all("Job")].map((owner) => {
    const { metadata, spec } = (owner.spec as { template: IPodTemplateSpec }).template;
    const [container, ...others] = spec?.containers ?? [];
    if (!spec || !container || others.length > 0) throw new Error("A pod of ours has one container");
    return { name: owner.metadata?.name ?? "", labels: metadata?.labels ?? {}, spec, container };
  });
}

export function getPod(cluster: Cluster, name: string): Pod {
  const pod = listPods(cluster).find((candidate) => candidate.name === name);
  if (!pod) throw new Error(`There is no pod of ${name}`);
  return pod;
}

/** What stands for a secret, which no overlay holds. */
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://role:secret@db-rw.tributary:5432/database",
  CURSOR_KEYS: "sixteen-characters-at-least",
};

/** What a pod's process finds in its environment. @throws Error for a key that its ConfigMap does not have. */
export function environmentOf(cluster: Cluster, { container }: Pod): Environment {
  const entries = (container.env ?? []).map(({ name, value, valueFrom }): [string, string] => {
    if (value !== undefined && value !== null) return [name, value];
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    const found = secretKeyRef
      ? secrets[name]
      : cluster.get("ConfigMap", configMapKeyRef?.name ?? "").data?.[configMapKeyRef?.key ?? ""];
    if (found === undefined) throw new Error(`${name} comes from nowhere`);
    return [name, found];
  });
  return Object.fromEntries(entries);
}

/** The pods that a selector's labels choose. */
export function selectPods(cluster: Cluster, matchLabels: Readonly<Record<string, string>> = {}): readonly Pod[] {
  return listPods(cluster).filter(({ labels }) => hasLabels(labels, matchLabels));
}
