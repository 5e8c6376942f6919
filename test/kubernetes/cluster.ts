import { join } from "node:path";
import type { Environment } from "../../kit/src/process/env.ts";
import type { Gateway, HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import type { IDeployment } from "kubernetes-models/apps/v1";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import type { IJob } from "kubernetes-models/batch/v1";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1";
import type { IConfigMap, IContainer, INamespace, IPodTemplateSpec, IService } from "kubernetes-models/v1";
import { kubernetes, overlayFolders } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { hasLabels, type JsonObject, type Manifest } from "./manifest.ts";

/** The kinds that the tests read; another test validates the manifests against the schemas of these types. */
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
  readonly Cluster: { readonly metadata: { readonly name: string }; readonly spec: JsonObject };
  readonly ScheduledBackup: { readonly spec: { readonly cluster: { readonly name: string } } };
  readonly ServiceAccount: JsonObject;
  readonly Secret: JsonObject;
}

/** All objects of an overlay, including its Jobs. */
export interface Cluster {
  all<K extends keyof Kinds>(kind: K): readonly Kinds[K][];
  /** @throws Error if it does not exist. */
  get<K extends keyof Kinds>(kind: K, name: string): Kinds[K];
}

export function renderOverlay(overlay: string): Cluster {
  // The main folder contains the objects of `prerequisites`.
  const folders = (overlayFolders[overlay] ?? []).filter((part) => part !== "prerequisites");
  return toCluster(folders.flatMap((folder) => renderFolder(join(kubernetes, "overlays", overlay, folder))));
}

export function toCluster(manifests: readonly Manifest[]): Cluster {
  const all = <K extends keyof Kinds>(kind: K) =>
    manifests.filter((manifest) => manifest.kind === kind) as unknown as readonly Kinds[K][];
  return {
    all,
    get(kind, name) {
      const manifest = all(kind).find(
        (candidate) => (candidate as { metadata?: { name?: string } }).metadata?.name === name,
      );
      if (!manifest) throw new Error(`The overlay has no ${kind} ${name}`);
      return manifest;
    },
  };
}

/** The pod of a Deployment or a Job. */
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
    if (!spec || !container || others.length > 0) throw new Error("A pod must have one container");
    return { name: owner.metadata?.name ?? "", labels: metadata?.labels ?? {}, spec, container };
  });
}

export function getPod(cluster: Cluster, name: string): Pod {
  const pod = listPods(cluster).find((candidate) => candidate.name === name);
  if (!pod) throw new Error(`${name} has no pod`);
  return pod;
}

/** Substitutes for secrets, which no overlay contains. */
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://role:secret@db-rw.tributary:5432/database",
  CURSOR_KEYS: "sixteen-characters-at-least",
  FEED_KEYS: "sixteen-characters-at-least",
  CONSISTENCY_KEYS: "sixteen-characters-at-least",
  PURGE_TOKEN: "token",
};

/** The environment of a pod's process. @throws Error for a key that its ConfigMap does not contain. */
export function environmentOf(cluster: Cluster, { container }: Pod): Environment {
  const entries = (container.env ?? []).map(({ name, value, valueFrom }): [string, string] => {
    if (value !== undefined && value !== null) return [name, value];
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    const referenced = secretKeyRef
      ? secrets[name]
      : cluster.get("ConfigMap", configMapKeyRef?.name ?? "").data?.[configMapKeyRef?.key ?? ""];
    if (referenced === undefined) throw new Error(`${name} has no value`);
    return [name, referenced];
  });
  return Object.fromEntries(entries);
}

export function selectPods(cluster: Cluster, matchLabels: Readonly<Record<string, string>> = {}): readonly Pod[] {
  return listPods(cluster).filter(({ labels }) => hasLabels(labels, matchLabels));
}
