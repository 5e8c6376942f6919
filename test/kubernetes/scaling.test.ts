import { describe, expect, test } from "vitest";
import { readServiceConfig } from "../../kit/src/service/service-config.ts";
import { environmentOf, getPod, renderOverlay, selectPods } from "./cluster.ts";
import { serviceNames, units } from "./units.ts";

/** Connections for superusers, the CloudNativePG operator, replication and operators. */
const connectionsReserved = 20;

describe.each([
  ["local", 1],
  ["production", 3],
])("in %s", (overlay, replicasMin) => {
  const cluster = renderOverlay(overlay);

  test.each(units.map(({ name }) => name))(
    "the autoscaler of %s scales its Deployment by a metric that its pods have",
    (name) => {
      const { spec } = cluster.get("HorizontalPodAutoscaler", name);
      const target = { apiVersion: "apps/v1", kind: "Deployment", name };
      expect(spec?.scaleTargetRef).toEqual(target);
      const deployment = cluster.get("Deployment", name);
      // Otherwise each `kubectl apply` would reset the number of replicas.
      expect(deployment.spec).not.toHaveProperty("replicas");
      expect(spec?.minReplicas).toBe(replicasMin);
      expect(spec?.maxReplicas).toBeGreaterThan(replicasMin);
      expect(spec?.metrics?.map((metric) => metric.resource)).toEqual([
        { name: "cpu", target: { type: "AverageValue", averageValue: "600m" } },
      ]);
      expect(getPod(cluster, name).container.resources?.requests).toHaveProperty("cpu");
    },
  );

  test.each(units.map(({ name }) => name))(
    "the disruption budget of %s permits draining a node, and keeps a replica running",
    (name) => {
      const { spec } = cluster.get("PodDisruptionBudget", name);
      expect(selectPods(cluster, spec?.selector?.matchLabels).map((pod) => pod.name)).toEqual([name]);
      expect(spec?.maxUnavailable).toBe(1);
      if (replicasMin > 1) expect(Number(spec?.maxUnavailable)).toBeLessThan(replicasMin);
    },
  );

  test.each(units.map(({ name }) => name))(
    "a roll-out of %s never reduces the number of available replicas",
    (name) => {
      const { strategy, minReadySeconds } = cluster.get("Deployment", name).spec ?? {};
      expect(strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      expect(minReadySeconds).toBeGreaterThan(0);
    },
  );

  test.each(serviceNames)(
    "the database of %s has connections for all replicas, including those that terminate during a roll-out",
    (name) => {
      const pod = getPod(cluster, name);
      const { connectionsMax } = readServiceConfig(environmentOf(cluster, pod), { port: 1 });
      const replicasMax = cluster.get("HorizontalPodAutoscaler", name).spec?.maxReplicas ?? 0;
      // A Deployment waits for minReadySeconds, but not for the end of a pod, before it replaces the next one.
      const { minReadySeconds = 0 } = cluster.get("Deployment", name).spec ?? {};
      const terminating = Math.ceil((pod.spec.terminationGracePeriodSeconds ?? 30) / minReadySeconds);
      const { postgresql } = cluster.get("Cluster", `${name}-db`).spec as {
        postgresql: { parameters: Record<string, string> };
      };
      const connections = Number(postgresql.parameters["max_connections"]);
      expect((replicasMax + 1 + terminating) * connectionsMax + connectionsReserved).toBeLessThanOrEqual(connections);
    },
  );

  test.each(serviceNames)("%s and its migration use the service's database", (name) => {
    const { spec } = cluster.get("Cluster", `${name}-db`);
    expect(spec["bootstrap"]).toEqual({ initdb: { database: name, owner: name } });
    for (const pod of [getPod(cluster, name), getPod(cluster, `migrate-${name}`)]) {
      const variable = pod.container.env?.find((candidate) => candidate.name === "DATABASE_URL");
      expect(variable?.valueFrom?.secretKeyRef).toEqual({ name: `${name}-db-app`, key: "uri" });
    }
  });

  test("a database with several instances commits synchronously to two of them", () => {
    for (const { spec } of cluster.all("Cluster")) {
      const { synchronous } = spec["postgresql"] as { synchronous?: unknown };
      const durable = { method: "any", number: 1, dataDurability: "required" };
      expect(synchronous).toEqual(Number(spec["instances"]) > 1 ? durable : undefined);
    }
  });
});
