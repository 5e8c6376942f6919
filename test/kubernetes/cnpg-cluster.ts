import { isObject, type Json, type JsonObject } from "./manifest.ts";

/** A kind of value: a word of `typeof`, or an object of exactly these keys, or any object of texts. */
type Shape = "string" | "number" | "boolean" | "texts" | { readonly [key: string]: Shape };

const resources: Shape = { cpu: "string", memory: "string" };

/**
 * What of CloudNativePG's Cluster (postgresql.cnpg.io/v1, 1.26 and later) we use; nobody publishes its schema for npm. A key that is not
 * here fails the test: whoever needs another one looks it up in CloudNativePG's API reference and adds it.
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
      parameters: "texts",
      synchronous: { method: "string", number: "number", dataDurability: "string" },
    },
    primaryUpdateMethod: "string",
    smartShutdownTimeout: "number",
    affinity: { enablePodAntiAffinity: "boolean", topologyKey: "string", podAntiAffinityType: "string" },
    resources: { requests: resources, limits: resources },
  },
};

/** What is wrong with a Cluster, as `path: problem`. */
export function findClusterProblems(cluster: JsonObject): readonly string[] {
  return findProblems(cluster, shape, "");
}

function findProblems(value: Json, expected: Shape, path: string): readonly string[] {
  if (typeof expected === "string" && expected !== "texts") {
    return typeof value === expected ? [] : [`${path}: is no ${expected}`];
  }
  if (!isObject(value)) return [`${path}: is no object`];
  return Object.entries(value).flatMap(([key, child]) => {
    const next = expected === "texts" ? "string" : expected[key];
    return next === undefined ? [`${path}/${key}: unknown key`] : findProblems(child, next, `${path}/${key}`);
  });
}
