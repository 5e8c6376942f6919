import { describe, expect, test } from "vitest";
import { describeEnvironment } from "../../kit/src/process/env.ts";
import { readServiceConfig } from "../../kit/src/service/service-config.ts";
import { environmentOf, getPod, listPods, renderOverlay, selectPods } from "./cluster.ts";
import type { JsonObject } from "./manifest.ts";
import { serviceNames, services } from "../services.ts";
import { issuer, type Unit, units } from "./units.ts";

/** Variables that a library reads, not Tributary's configuration. */
const foreignVariables = new Set(["APOLLO_TELEMETRY_DISABLED"]);
/** The gateway does not follow the change feeds yet: it has their keys before the release that does. */
const earlyVariableOfGateway = "FEED_KEYS";
/** Variables whose names depend on the services. */
const variablePatterns = services.map(
  ({ variablePrefix }) => new RegExp(`^(SUBGRAPH_URL|ENTITY_CACHE)_${variablePrefix}$`),
);

/** Time to close after the last request: pending statements (6 s), the last traces (2 s) and a reserve (1 s). */
const closeMsMax = 9_000;
/** How long cluster DNS may return a terminated pod: kubeadm's CoreDNS has a TTL of 30 s. */
const dnsTtlMs = 30_000;
/** Interval of DNS lookups in the gateway and the REST proxy: `resolveEveryMs` of kit/src/upstream/addresses.ts. */
const resolveEveryMs = 5_000;

describe.each(["local", "production"])("in %s", (overlay) => {
  const cluster = renderOverlay(overlay);
  const running = overlay === "local" ? [...units, issuer] : units;

  test("each unit and the rate limit store has a Deployment, and no other Deployment exists", () => {
    const names = new Set(cluster.all("Deployment").map(({ metadata }) => metadata?.name));
    expect(names).toEqual(new Set([...running.map(({ name }) => name), "rate-limit-store"]));
  });

  test.each(running.map((unit) => [unit.name, unit] as const))(
    "%s has a valid environment without unknown variables",
    (name, unit) => {
      const pod = getPod(cluster, name);
      const environment = environmentOf(cluster, pod);
      const { port, host } = unit.readConfig(environment);
      expect(host).toBe("0.0.0.0");
      expect(pod.container.ports).toContainEqual({ name: "http", containerPort: port });
      expect(environment["PROFILE"]).toBe(overlay === "local" ? "development" : "production");
      const known = new Set(describeEnvironment(unit.readConfig).map((variable) => variable.name));
      const unknown = Object.keys(environment).filter(
        (variable) => !known.has(variable) && !foreignVariables.has(variable) && !matchesPattern(variable),
      );
      expect(unknown.filter((variable) => name !== "gateway" || variable !== earlyVariableOfGateway)).toEqual([]);
    },
  );

  test.each(serviceNames)("the migration of %s has the service's image and database", (name) => {
    const service = getPod(cluster, name);
    const migration = getPod(cluster, `migrate-${name}`);
    expect(migration.container.image).toBe(service.container.image);
    expect(migration.container.args).toEqual(["node", "src/main.ts", "migrate"]);
    const unit = units.find((candidate) => candidate.name === name)!;
    expect(() => unit.readConfig(environmentOf(cluster, migration))).not.toThrow();
    const { DATABASE_URL } = environmentOf(cluster, service);
    expect(environmentOf(cluster, migration)["DATABASE_URL"]).toBe(DATABASE_URL);
    // The Service must not send requests to the migration's pod.
    expect(migration.labels["app.kubernetes.io/name"]).toBe(`migrate-${name}`);
  });

  test.each(units.map((unit) => [unit.name, unit] as const))(
    "the termination grace period of %s exceeds its longest shutdown",
    (name, unit) => {
      const pod = getPod(cluster, name);
      const { drainDelayMs, shutdownGraceMs } = unit.readConfig(environmentOf(cluster, pod));
      const preStopMs = preStopSeconds(pod.container) * 1_000;
      const neededMs = preStopMs + drainDelayMs + shutdownGraceMs + closeMsMax;
      expect((pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000).toBeGreaterThan(neededMs);
      expect(shutdownGraceMs).toBeGreaterThanOrEqual(unit.requestMsMax(environmentOf(cluster, pod)));
    },
  );

  test.each(serviceNames)("%s accepts requests until DNS no longer returns it", (name) => {
    const { container } = getPod(cluster, name);
    expect(preStopSeconds(container) * 1_000).toBeGreaterThanOrEqual(dnsTtlMs + resolveEveryMs);
  });

  test.each(running.map(({ name }) => name))("%s has separate liveness and readiness probes", (name) => {
    const { startupProbe, livenessProbe, readinessProbe, lifecycle } = getPod(cluster, name).container;
    const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => [
      probe?.httpGet?.path,
      probe?.httpGet?.port,
    ]);
    // The admin listener responds while the event loop is busy. The local issuer has none.
    const port = name === issuer.name ? "http" : "admin";
    expect(paths).toEqual([
      ["/health/live", port],
      ["/health/live", port],
      ["/health/ready", port],
    ]);
    // A saturated replica must not leave its load to the others because of a short pause.
    expect(secondsToFail(readinessProbe)).toBeGreaterThanOrEqual(15);
    // An unavailable database must not restart the pod, and the startup probe covers a slow start.
    expect(startupProbe?.failureThreshold).toBeGreaterThanOrEqual(30);
    expect(secondsToFail(livenessProbe)).toBeGreaterThan(secondsToFail(readinessProbe));
    // A hanging process is killed quickly: its preStop hook alone takes longer than a restart may.
    expect(lifecycle?.preStop ? livenessProbe?.terminationGracePeriodSeconds : 0).toBeLessThanOrEqual(5);
  });

  test.each(listPods(cluster).map((pod) => [pod.name, pod] as const))(
    "%s runs without privileges",
    (_, { spec, container }) => {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.serviceAccountName).toBeDefined();
      // The user is a number: the kubelet cannot verify that the user name `node` is not root, and would not start the pod.
      const identity = { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 };
      expect(spec.securityContext).toEqual({ ...identity, seccompProfile: { type: "RuntimeDefault" } });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      const writable = (spec.volumes ?? []).filter((volume) => !volume.configMap);
      expect(writable).toEqual([]);
    },
  );

  test("every pod has an existing service account without a token, and each unit has a separate one", () => {
    const accounts = cluster.all("ServiceAccount").map((account) => {
      expect(account["automountServiceAccountToken"]).toBe(false);
      return (account["metadata"] as { name: string }).name;
    });
    const used = listPods(cluster).map(({ spec }) => spec.serviceAccountName ?? "");
    expect(new Set(used)).toEqual(new Set(accounts));
    const unitAccounts = running.map(({ name }) => getPod(cluster, name).spec.serviceAccountName);
    expect(new Set(unitAccounts).size).toBe(running.length);
  });

  test("no manifest contains a secret: secret variables are references", () => {
    expect(cluster.all("Secret")).toEqual([]);
    const secret = (unit: Unit) => describeEnvironment(unit.readConfig).filter((variable) => variable.secret);
    const names = new Set(running.flatMap(secret).map(({ name }) => name));
    const keys = ["CURSOR_KEYS", "FEED_KEYS", "CONSISTENCY_KEYS"];
    expect(names).toEqual(new Set(["DATABASE_URL", ...keys, "RATE_LIMIT_STORE_PASSWORD"]));
    const variables = listPods(cluster).flatMap(({ container }) => container.env ?? []);
    // The seed Job has USERS_DATABASE_URL and so on.
    const isSecret = (name: string) => names.has(name) || name.endsWith("_DATABASE_URL");
    expect(variables.filter(({ name, valueFrom }) => isSecret(name) && !valueFrom?.secretKeyRef)).toEqual([]);
  });

  test("the services have the keys of the gateway and the REST proxy for change feeds, and no key for receipts", () => {
    const referenceOf = (unit: string, variable: string) =>
      getPod(cluster, unit).container.env?.find(({ name }) => name === variable)?.valueFrom?.secretKeyRef;
    for (const { name } of units) {
      expect(referenceOf(name, "FEED_KEYS")).toEqual({ name: "feed-keys", key: "keys" });
      const consistencyKeys = isEndpoint(name) ? { name: "consistency-keys", key: "keys" } : undefined;
      expect(referenceOf(name, "CONSISTENCY_KEYS")).toEqual(consistencyKeys);
    }
  });

  test("every image has a fixed tag", () => {
    const images = listPods(cluster).map(({ container }) => container.image ?? "");
    expect(images.filter((image) => !/^[\w./-]+:[\w.-]+$/.test(image) || image.endsWith(":latest"))).toEqual([]);
    const names = images.map((image) => image.replace(/^registry\.example\.com\//, "").replace(/:.*$/, ""));
    const jobs = overlay === "local" ? ["seed"] : [];
    const expected = [...running.map(({ name }) => name), ...jobs].map((name) => `tributary/${name}`);
    expect(new Set(names)).toEqual(new Set([...expected, "redis"]));
  });

  test("every pod requests CPU and memory, and has a memory limit but no CPU limit", () => {
    for (const { container } of listPods(cluster)) {
      const { requests, limits } = container.resources ?? {};
      expect(requests).toEqual({ cpu: expect.any(String), memory: expect.any(String) });
      expect(Object.keys(limits ?? {})).toEqual(["memory"]);
    }
  });

  test("topology spread constraints select by labels that the pods have", () => {
    for (const { name } of units) {
      const { spec, labels } = getPod(cluster, name);
      const keys = (spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
      expect(keys).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
      for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) {
        expect(labels).toMatchObject(labelSelector?.matchLabels ?? { nothing: "" });
        // The Deployment adds the second label.
        expect(matchLabelKeys).toEqual(["app.kubernetes.io/name", "pod-template-hash"]);
      }
    }
  });
});

/** One connection of each replica reads the changes for its feed. */
const feedConnections = 1;
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
      const perReplica = connectionsMax + feedConnections;
      expect((replicasMax + 1 + terminating) * perReplica + connectionsReserved).toBeLessThanOrEqual(connections);
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

  test("a database prefers a zone for each instance, and in production it is archived and backed up every night", () => {
    const isArchived = overlay === "production";
    for (const { metadata, spec } of cluster.all("Cluster")) {
      const [zones] = spec["topologySpreadConstraints"] as readonly JsonObject[];
      expect(zones).toMatchObject({
        topologyKey: "topology.kubernetes.io/zone",
        labelSelector: { matchLabels: { "cnpg.io/cluster": metadata.name } },
      });
      const archive = { name: "barman-cloud.cloudnative-pg.io", isWALArchiver: true };
      expect(spec["plugins"]).toEqual(isArchived ? [expect.objectContaining(archive)] : undefined);
    }
    const backedUp = cluster.all("ScheduledBackup").map(({ spec }) => spec.cluster.name);
    expect(backedUp).toEqual(isArchived ? cluster.all("Cluster").map(({ metadata }) => metadata.name) : []);
  });
});

test("production's URLs are example.com placeholders", () => {
  const { ISSUER, JWKS_URL, CORS_ORIGINS } = environmentsOf("production");
  for (const address of [ISSUER, JWKS_URL, CORS_ORIGINS]) expect(address).toMatch(/^https:\/\/[a-z]+\.example\.com/);
});

function environmentsOf(overlay: string) {
  const cluster = renderOverlay(overlay);
  return Object.assign({}, ...units.map(({ name }) => environmentOf(cluster, getPod(cluster, name))));
}

function isEndpoint(name: string): boolean {
  return name === "gateway" || name === "rest-proxy";
}

function matchesPattern(variable: string): boolean {
  return variablePatterns.some((pattern) => pattern.test(variable));
}

type Container = ReturnType<typeof getPod>["container"];

function preStopSeconds({ lifecycle }: Container): number {
  return lifecycle?.preStop?.sleep?.seconds ?? 0;
}

function secondsToFail(probe: Container["livenessProbe"]): number {
  return (probe?.periodSeconds ?? 10) * (probe?.failureThreshold ?? 3);
}
