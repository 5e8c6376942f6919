import { describe, expect, test } from "vitest";
import { describeEnvironment } from "../../kit/src/process/env.ts";
import { environmentOf, getPod, listPods, renderOverlay } from "./cluster.ts";
import { issuer, serviceNames, type Unit, units } from "./units.ts";

/** Read by Node or a library, not by our configuration. */
const foreignVariables = new Set(["APOLLO_TELEMETRY_DISABLED"]);
/** By name patterns, which no list of a configuration's variables can hold. */
const variablePatterns = [/^SUBGRAPH_URL_(USERS|POSTS|COMMENTS|ORDERS)$/];

/** What closing takes after the last request: statements under way (6 s), then the last traces (2 s), and a rest. */
const closeMsMax = 9_000;
/** How long cluster DNS may go on naming a pod that has left: kubeadm's CoreDNS answers with a time to live of 30 s. */
const dnsTtlMs = 30_000;
/** How often the doors look names up: `resolveEveryMs` of kit/src/upstream/addresses.ts. */
const resolveEveryMs = 5_000;

describe.each(["local", "production"])("in %s", (overlay) => {
  const cluster = renderOverlay(overlay);
  const running = overlay === "local" ? [...units, issuer] : units;

  test("there is a Deployment for each unit, and no other", () => {
    const names = new Set(cluster.all("Deployment").map(({ metadata }) => metadata?.name));
    expect(names).toEqual(new Set(running.map(({ name }) => name)));
  });

  test.each(running.map((unit) => [unit.name, unit] as const))("%s starts with what it is told", (name, unit) => {
    const pod = getPod(cluster, name);
    const environment = environmentOf(cluster, pod);
    const { port, host } = unit.readConfig(environment);
    expect(host).toBe("0.0.0.0");
    expect(pod.container.ports).toContainEqual({ name: "http", containerPort: port });
    expect(environment["PROFILE"]).toBe(overlay === "local" ? "development" : "production");
    const known = new Set(describeEnvironment(unit.readConfig).map((variable) => variable.name));
    const unknown = Object.keys(environment).filter(
      (variable) => !known.has(variable) && !foreignVariables.has(variable) && !isOfPattern(variable),
    );
    expect(unknown).toEqual([]);
  });

  test.each(serviceNames)("the migration of %s has the service's image and what the service is told", (name) => {
    const service = getPod(cluster, name);
    const migration = getPod(cluster, `migrate-${name}`);
    expect(migration.container.image).toBe(service.container.image);
    expect(migration.container.args).toEqual(["node", "src/main.ts", "migrate"]);
    const unit = units.find((candidate) => candidate.name === name)!;
    expect(() => unit.readConfig(environmentOf(cluster, migration))).not.toThrow();
    const { DATABASE_URL } = environmentOf(cluster, service);
    expect(environmentOf(cluster, migration)["DATABASE_URL"]).toBe(DATABASE_URL);
    // It must not answer where the service's requests go.
    expect(migration.labels["app.kubernetes.io/name"]).toBe(`migrate-${name}`);
  });

  test.each(units.map((unit) => [unit.name, unit] as const))(
    "%s may take longer to stop than it needs",
    (name, unit) => {
      const pod = getPod(cluster, name);
      const { drainDelayMs, shutdownGraceMs } = unit.readConfig(environmentOf(cluster, pod));
      const preStopMs = preStopSeconds(pod.container) * 1_000;
      const neededMs = preStopMs + drainDelayMs + shutdownGraceMs + closeMsMax;
      expect((pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000).toBeGreaterThan(neededMs);
      expect(shutdownGraceMs).toBeGreaterThanOrEqual(unit.answerMsMax(environmentOf(cluster, pod)));
    },
  );

  test.each(serviceNames)("%s serves until nobody can find it any more", (name) => {
    const { container } = getPod(cluster, name);
    expect(preStopSeconds(container) * 1_000).toBeGreaterThanOrEqual(dnsTtlMs + resolveEveryMs);
  });

  test.each(running.map(({ name }) => name))("the probes of %s ask for different things", (name) => {
    const { startupProbe, livenessProbe, readinessProbe, lifecycle } = getPod(cluster, name).container;
    const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => [
      probe?.httpGet?.path,
      probe?.httpGet?.port,
    ]);
    expect(paths).toEqual([
      ["/health/live", "http"],
      ["/health/live", "http"],
      ["/health/ready", "http"],
    ]);
    // A database that is away must not restart anybody, and a slow start is none of the liveness probe's business.
    expect(startupProbe?.failureThreshold).toBeGreaterThanOrEqual(30);
    expect(secondsToFail(livenessProbe)).toBeGreaterThan(secondsToFail(readinessProbe));
    // Whoever hangs is not waited for: preStop alone takes longer than its restart may.
    expect(lifecycle?.preStop ? livenessProbe?.terminationGracePeriodSeconds : 0).toBeLessThanOrEqual(5);
  });

  test.each(listPods(cluster).map((pod) => [pod.name, pod] as const))("%s has no rights", (_, { spec, container }) => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.serviceAccountName).toBeDefined();
    // As a number: of `node`, the images' user, the kubelet could not know that it is not root, and would start nothing.
    const identity = { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 };
    expect(spec.securityContext).toEqual({ ...identity, seccompProfile: { type: "RuntimeDefault" } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const writable = (spec.volumes ?? []).filter((volume) => !volume.configMap);
    expect(writable).toEqual([]);
  });

  test("every pod's account exists, gets no token, and each unit has its own", () => {
    const accounts = cluster.all("ServiceAccount").map((account) => {
      expect(account["automountServiceAccountToken"]).toBe(false);
      return (account["metadata"] as { name: string }).name;
    });
    const used = listPods(cluster).map(({ spec }) => spec.serviceAccountName ?? "");
    expect(new Set(used)).toEqual(new Set(accounts));
    const ofUnits = running.map(({ name }) => getPod(cluster, name).spec.serviceAccountName);
    expect(new Set(ofUnits).size).toBe(running.length);
  });

  test("no secret stands in a file: what the configuration calls secret comes by reference", () => {
    expect(cluster.all("Secret")).toEqual([]);
    const secret = (unit: Unit) => describeEnvironment(unit.readConfig).filter((variable) => variable.secret);
    const names = new Set(running.flatMap(secret).map(({ name }) => name));
    expect(names).toEqual(new Set(["DATABASE_URL", "CURSOR_KEYS"]));
    const variables = listPods(cluster).flatMap(({ container }) => container.env ?? []);
    // The seed's are USERS_DATABASE_URL and so on.
    const isSecret = (name: string) => names.has(name) || name.endsWith("_DATABASE_URL");
    expect(variables.filter(({ name, valueFrom }) => isSecret(name) && !valueFrom?.secretKeyRef)).toEqual([]);
  });

  test("every image has a tag, and it is not one that moves", () => {
    const images = listPods(cluster).map(({ container }) => container.image ?? "");
    expect(images.filter((image) => !/^[\w./-]+:[\w.-]+$/.test(image) || image.endsWith(":latest"))).toEqual([]);
    const names = images.map((image) => image.replace(/^registry\.example\.com\//, "").replace(/:.*$/, ""));
    const jobs = overlay === "local" ? ["seed"] : [];
    const expected = [...running.map(({ name }) => name), ...jobs].map((name) => `tributary/${name}`);
    expect(new Set(names)).toEqual(new Set(expected));
  });

  test("every pod says what it needs, has an end to its memory, and is never throttled", () => {
    for (const { container } of listPods(cluster)) {
      const { requests, limits } = container.resources ?? {};
      expect(requests).toEqual({ cpu: expect.any(String), memory: expect.any(String) });
      expect(Object.keys(limits ?? {})).toEqual(["memory"]);
    }
  });

  test("replicas are spread by labels that their pods have", () => {
    for (const { name } of units) {
      const { spec, labels } = getPod(cluster, name);
      const keys = (spec.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
      expect(keys).toEqual(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
      for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) {
        expect(labels).toMatchObject(labelSelector?.matchLabels ?? { nothing: "" });
        // The second is put on by the Deployment.
        expect(matchLabelKeys).toEqual(["app.kubernetes.io/name", "pod-template-hash"]);
      }
    }
  });
});

test("everything of production that is a placeholder says so, and nothing local is in it", () => {
  const { ISSUER, JWKS_URL, CORS_ORIGINS } = environmentsOf("production");
  for (const address of [ISSUER, JWKS_URL, CORS_ORIGINS]) expect(address).toMatch(/^https:\/\/[a-z]+\.example\.com/);
});

function environmentsOf(overlay: string) {
  const cluster = renderOverlay(overlay);
  return Object.assign({}, ...units.map(({ name }) => environmentOf(cluster, getPod(cluster, name))));
}

function isOfPattern(variable: string): boolean {
  return variablePatterns.some((pattern) => pattern.test(variable));
}

type Container = ReturnType<typeof getPod>["container"];

function preStopSeconds({ lifecycle }: Container): number {
  return lifecycle?.preStop?.sleep?.seconds ?? 0;
}

function secondsToFail(probe: Container["livenessProbe"]): number {
  return (probe?.periodSeconds ?? 10) * (probe?.failureThreshold ?? 3);
}
