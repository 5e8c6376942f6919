import { isObject, type Json, type JsonObject } from "./manifest.ts";

/** The type of a value: a result of `typeof`, any object with string values (`strings`), or an object with exactly these keys. */
type Shape = "string" | "number" | "boolean" | "strings" | { readonly [key: string]: Shape };

const resources: Shape = { cpu: "string", memory: "string" };

/**
 * The used part of CloudNativePG's Cluster (postgresql.cnpg.io/v1, 1.26 and later), whose schema is not published to npm. Any
 * other key fails the test; to use one, add it here as in CloudNativePG's API reference.
 */
const shape: Shape = {
  apiVersion: "string",
  kind: "string",
  metadata: { name: "string", namespace: "string" },
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
    resources: { requests: resources, limits: resources },
  },
};

/** The problems of a Cluster, as `path: problem`. */
export function findClusterProblems(cluster: JsonObject): readonly string[] {
  return findProblems(cluster, shape, "");
}

function findProblems(value: Json, expected: Shape, path: string): readonly string[] {
  if (typeof expected === "string" && expected !== "strings") {
    return typeof value === expected ? [] : [`${path}: is not a ${expected}`];
  }
  if (!isObject(value)) return [`${path}: is not an object`];
  return Object.entries(value).flatMap(([key, child]) => {
    const next = expected === "strings" ? "string" : expected[key];
    return next === undefined ? [`${path}/${key}: unknown key`] : findProblems(child, next, `${path}/${key}`);
  });
}
