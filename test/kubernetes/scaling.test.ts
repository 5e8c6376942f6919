import { describe, expect, test } from "vitest";
import { readServiceConfig } from "../../kit/src/service/service-config.ts";
import { environmentOf, getPod, renderOverlay, selectPods } from "./cluster.ts";
import { serviceNames, units } from "./units.ts";

/** What PostgreSQL keeps for superusers, and what the operator, replication and a human need. */
const connectionsReserved = 20;

describe.each([
  ["local", 1],
  ["production", 3],
])("in %s", (overlay, replicasMin) => {
  const cluster = renderOverlay(overlay);

  test.each(units.map(({ name }) => name))(
    "the autoscaler of %s finds what it scales, by a metric that there is",
    (name) => {
      const { spec } = cluster.get("HorizontalPodAutoscaler", name);
      const target = { apiVersion: "apps/v1", kind: "Deployment", name };
      expect(spec?.scaleTargetRef).toEqual(target);
      const deployment = cluster.get("Deployment", name);
      // Else each apply would set the number back.
      expect(deployment.spec).not.toHaveProperty("replicas");
      expect(spec?.minReplicas).toBe(replicasMin);
      expect(spec?.maxReplicas).toBeGreaterThan(replicasMin);
      expect(spec?.metrics?.map((metric) => metric.resource)).toEqual([
        { name: "cpu", target: { type: "AverageValue", averageValue: "600m" } },
      ]);
      expect(getPod(cluster, name).container.resources?.requests).toHaveProperty("cpu");
    },
  );

  test.each(units.map(({ name }) => name))("the budget of %s lets a node be emptied, and leaves somebody", (name) => {
    const { spec } = cluster.get("PodDisruptionBudget", name);
    expect(selectPods(cluster, spec?.selector?.matchLabels).map((pod) => pod.name)).toEqual([name]);
    expect(spec?.maxUnavailable).toBe(1);
    if (replicasMin > 1) expect(Number(spec?.maxUnavailable)).toBeLessThan(replicasMin);
  });

  test.each(units.map(({ name }) => name))("%s is rolled out without having fewer replicas meanwhile", (name) => {
    const { strategy, minReadySeconds } = cluster.get("Deployment", name).spec ?? {};
    expect(strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(minReadySeconds).toBeGreaterThan(0);
  });

  test.each(serviceNames)(
    "the replicas of %s fit its database, with all that are on their way out of a roll-out",
    (name) => {
      const pod = getPod(cluster, name);
      const { connectionsMax } = readServiceConfig(environmentOf(cluster, pod), { port: 1 });
      const replicasMax = cluster.get("HorizontalPodAutoscaler", name).spec?.maxReplicas ?? 0;
      // A Deployment does not wait for a pod's end before it replaces the next one, only for minReadySeconds.
      const { minReadySeconds = 0 } = cluster.get("Deployment", name).spec ?? {};
      const leaving = Math.ceil((pod.spec.terminationGracePeriodSeconds ?? 30) / minReadySeconds);
      const { postgresql } = cluster.get("Cluster", `${name}-db`).spec as {
        postgresql: { parameters: Record<string, string> };
      };
      const connections = Number(postgresql.parameters["max_connections"]);
      expect((replicasMax + 1 + leaving) * connectionsMax + connectionsReserved).toBeLessThanOrEqual(connections);
    },
  );

  test.each(serviceNames)("%s and its migration have the database that is made for them", (name) => {
    const { spec } = cluster.get("Cluster", `${name}-db`);
    expect(spec["bootstrap"]).toEqual({ initdb: { database: name, owner: name } });
    for (const pod of [getPod(cluster, name), getPod(cluster, `migrate-${name}`)]) {
      const variable = pod.container.env?.find((candidate) => candidate.name === "DATABASE_URL");
      expect(variable?.valueFrom?.secretKeyRef).toEqual({ name: `${name}-db-app`, key: "uri" });
    }
  });

  test("a database with more than one instance confirms what two of them have", () => {
    for (const { spec } of cluster.all("Cluster")) {
      const { synchronous } = spec["postgresql"] as { synchronous?: unknown };
      const durable = { method: "any", number: 1, dataDurability: "required" };
      expect(synchronous).toEqual(Number(spec["instances"]) > 1 ? durable : undefined);
    }
  });
});
