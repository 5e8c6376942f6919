import { validate as gateway } from "@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1Gateway";
import { validate as httpRoute } from "@kubernetes-models/gateway-api/_schemas/IoK8sSigsGatewayApiApisV1HTTPRoute";
import { validate as deployment } from "kubernetes-models/_schemas/IoK8sApiAppsV1Deployment";
import { validate as autoscaler } from "kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler";
import { validate as job } from "kubernetes-models/_schemas/IoK8sApiBatchV1Job";
import { validate as configMap } from "kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap";
import { validate as namespace } from "kubernetes-models/_schemas/IoK8sApiCoreV1Namespace";
import { validate as service } from "kubernetes-models/_schemas/IoK8sApiCoreV1Service";
import { validate as serviceAccount } from "kubernetes-models/_schemas/IoK8sApiCoreV1ServiceAccount";
import { validate as networkPolicy } from "kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy";
import { validate as disruptionBudget } from "kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget";
import { isObject, type Json, type JsonObject, type Manifest } from "./manifest.ts";

/** A compiled JSON schema. The function stores the last errors in its `errors` property. */
type Validate = ((data: unknown) => boolean) & { readonly errors?: readonly SchemaError[] | null };

interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: unknown;
}

const validators: Readonly<Record<string, Validate>> = {
  "apps/v1 Deployment": deployment,
  "autoscaling/v2 HorizontalPodAutoscaler": autoscaler,
  "batch/v1 Job": job,
  "gateway.networking.k8s.io/v1 Gateway": gateway,
  "gateway.networking.k8s.io/v1 HTTPRoute": httpRoute,
  "networking.k8s.io/v1 NetworkPolicy": networkPolicy,
  "policy/v1 PodDisruptionBudget": disruptionBudget,
  "v1 ConfigMap": configMap,
  "v1 Namespace": namespace,
  "v1 Service": service,
  "v1 ServiceAccount": serviceAccount,
};

/** The violations of the schema of an object's kind, as `path: problem`. An unknown key is a violation, too. */
export function findSchemaProblems(manifest: Manifest): readonly string[] {
  const kind = `${manifest.apiVersion} ${manifest.kind}`;
  const shape = shapes[kind];
  if (shape) return findProblems(manifest, shape, "");
  const validate = validators[kind];
  if (!validate) return [`: unknown kind ${kind}`];
  const unread = new Set<string>();
  const isValid = validate(watchReads(manifest, "", unread));
  const errors = (validate.errors ?? []).map((error) => {
    return `${error.instancePath}: ${error.keyword} ${JSON.stringify(error.params)}`;
  });
  return [...(isValid ? [] : errors), ...[...unread].map((path) => `${path}: unknown key`)];
}

/**
 * Kubernetes's schemas allow any key, and the API server drops unknown ones. This proxy records the keys that the validator reads:
 * a key that remains in `unread` is unknown to the schema.
 */
function watchReads(value: JsonObject, path: string, unread: Set<string>): JsonObject {
  const children = new Map<string, unknown>();
  if (!Array.isArray(value)) for (const key of Object.keys(value)) unread.add(`${path}/${key}`);
  return new Proxy(value, {
    get(target, key, receiver) {
      const child: unknown = Reflect.get(target, key, receiver);
      if (typeof key !== "string" || !Object.hasOwn(target, key)) return child;
      unread.delete(`${path}/${key}`);
      if (typeof child !== "object" || child === null) return child;
      if (!children.has(key)) children.set(key, watchReads(child as JsonObject, `${path}/${key}`, unread));
      return children.get(key);
    },
  });
}

/**
 * The type of a value: a result of `typeof`, any object with string values (`strings`), a list with values of one shape, or an object with exactly
 * these keys.
 */
type Shape = "string" | "number" | "boolean" | "strings" | readonly [Shape] | { readonly [key: string]: Shape };

const resources: Shape = { cpu: "string", memory: "string" };

const metadata: Shape = { name: "string", namespace: "string" };
const secretKey: Shape = { name: "string", key: "string" };

/**
 * The used part of CloudNativePG's kinds (1.26 and later) and its plugin for backups, whose schemas are not published to npm. Any other key fails the
 * test; to use one, add it here as in their API references.
 */
const shapes: Readonly<Record<string, Shape>> = {
  "postgresql.cnpg.io/v1 Cluster": {
    apiVersion: "string",
    kind: "string",
    metadata,
    spec: {
      imageName: "string",
      instances: "number",
      bootstrap: { initdb: { database: "string", owner: "string" } },
      storage: { size: "string" },
      postgresql: {
        parameters: "strings",
        synchronous: { method: "string", number: "number", dataDurability: "string" },
      },
      primaryUpdateMethod: "string",
      smartShutdownTimeout: "number",
      affinity: { enablePodAntiAffinity: "boolean", topologyKey: "string", podAntiAffinityType: "string" },
      topologySpreadConstraints: [
        {
          maxSkew: "number",
          topologyKey: "string",
          whenUnsatisfiable: "string",
          labelSelector: { matchLabels: "strings" },
        },
      ],
      plugins: [{ name: "string", isWALArchiver: "boolean", parameters: "strings" }],
      resources: { requests: resources, limits: resources },
    },
  },
  "postgresql.cnpg.io/v1 ScheduledBackup": {
    apiVersion: "string",
    kind: "string",
    metadata,
    spec: {
      cluster: { name: "string" },
      schedule: "string",
      immediate: "boolean",
      method: "string",
      pluginConfiguration: { name: "string" },
    },
  },
  "barmancloud.cnpg.io/v1 ObjectStore": {
    apiVersion: "string",
    kind: "string",
    metadata,
    spec: {
      retentionPolicy: "string",
      configuration: {
        destinationPath: "string",
        s3Credentials: { accessKeyId: secretKey, secretAccessKey: secretKey },
        wal: { compression: "string" },
        data: { compression: "string" },
      },
    },
  },
};

function findProblems(value: Json, expected: Shape, path: string): readonly string[] {
  if (typeof expected === "string" && expected !== "strings") {
    return typeof value === expected ? [] : [`${path}: is not a ${expected}`];
  }
  if (isList(expected)) {
    if (!Array.isArray(value)) return [`${path}: is not a list`];
    return value.flatMap((item, at) => findProblems(item, expected[0], `${path}/${at}`));
  }
  if (!isObject(value)) return [`${path}: is not an object`];
  return Object.entries(value).flatMap(([key, child]) => {
    const next = expected === "strings" ? "string" : expected[key];
    return next === undefined ? [`${path}/${key}: unknown key`] : findProblems(child, next, `${path}/${key}`);
  });
}

function isList(expected: Shape): expected is readonly [Shape] {
  return Array.isArray(expected);
}
