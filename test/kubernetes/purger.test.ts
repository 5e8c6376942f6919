// The optional component infra/kubernetes/purger, in an overlay whose line for it is not a comment.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { readConfig as readPurger } from "../../infra/purger/src/config.ts";
import { describeEnvironment } from "../../kit/src/process/env.ts";
import { feedPortOf } from "../../kit/src/feed/feed-config.ts";
import { alerts } from "../observability/files.ts";
import { serviceNames, services } from "../services.ts";
import { environmentOf, getPod, listPods, toCluster } from "./cluster.ts";
import { kubernetes, root } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { type Manifest, nameOf } from "./manifest.ts";
import { mayReach } from "./policies.ts";
import { findSchemaProblems } from "./schemas.ts";
import { units } from "./units.ts";

const copy = mkdtempSync(join(tmpdir(), "tributary-purger-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));
cpSync(kubernetes, join(copy, "infra/kubernetes"), { recursive: true });
for (const file of ["kustomization.yaml", "supergraph.graphql", "gateway.yaml"])
  cpSync(join(root, "supergraph", file), join(copy, "supergraph", file));

/** The hash at the end of the names of settings is not computed as kustomize does. */
function sortedWithoutHashes(manifests: readonly Manifest[]): readonly Manifest[] {
  const text = JSON.stringify(manifests).replaceAll(/settings-[a-z0-9]{10}(?=")/g, "settings");
  return (JSON.parse(text) as Manifest[]).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

describe.each(["local", "production"])("in %s with the purger", (overlay) => {
  const folder = join(copy, "infra/kubernetes/overlays", overlay);
  const without = renderFolder(folder);
  enablePurger(join(folder, "kustomization.yaml"));
  const manifests = renderFolder(folder);
  const cluster = toCluster(manifests);
  const pod = getPod(cluster, "purger");

  test("the manifests conform to their schemas, and only those of the purger are new", () => {
    expect(manifests.flatMap((manifest) => findSchemaProblems(manifest))).toEqual([]);
    const before = new Set(without.map(nameOf));
    const added = manifests.map(nameOf).filter((name) => !before.has(name));
    expect(added.toSorted()).toEqual([
      expect.stringMatching(/^ConfigMap purger-settings-\w+$/),
      "Deployment purger",
      "NetworkPolicy purger",
      "NetworkPolicy purger-feeds",
      "ServiceAccount purger",
    ]);
    expect(manifests.filter(({ metadata }) => metadata["namespace"] !== "tributary").map(nameOf)).toEqual(
      without.filter(({ metadata }) => metadata["namespace"] !== "tributary").map(nameOf),
    );
  });

  test.runIf(spawnSync("kubectl", ["kustomize", "--help"]).status === 0)("kubectl renders the same objects", () => {
    const text = execFileSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
    const printed = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    expect(sortedWithoutHashes(manifests)).toEqual(sortedWithoutHashes(printed));
  });

  test("the purger follows the feed of every service, with valid variables and the image of the overlay", () => {
    const environment = environmentOf(cluster, pod);
    const { port, adminPort, host, feedUrls, targets, drainDelayMs, shutdownGraceMs } = readPurger(environment);
    expect(pod.container.ports).toEqual([
      { name: "http", containerPort: port },
      { name: "admin", containerPort: adminPort },
    ]);
    expect(host).toBe("0.0.0.0");
    expect(feedUrls).toEqual(
      Object.fromEntries(services.map(({ name, port: own }) => [name, [`http://${name}:${feedPortOf(own)}`]])),
    );
    expect(targets).toMatchObject([{ form: "varnish", url: "http://varnish/" }]);
    const feedVariables = services.map(({ variablePrefix }) => `${variablePrefix}_FEED_URL`);
    const known = new Set([...describeEnvironment(readPurger).map(({ name }) => name), ...feedVariables]);
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    expect(pod.container.image).toBe(getPod(cluster, "gateway").container.image?.replace("gateway", "purger"));
    // What waits is sent for two seconds more.
    const shutdownMs = drainDelayMs + shutdownGraceMs + 2_000;
    expect((pod.spec.terminationGracePeriodSeconds ?? 0) * 1_000).toBeGreaterThan(shutdownMs);
  });

  test("its secrets are references, and the token is optional", () => {
    const references = (pod.container.env ?? []).flatMap(({ name, valueFrom }) =>
      valueFrom?.secretKeyRef ? [[name, valueFrom.secretKeyRef]] : [],
    );
    expect(Object.fromEntries(references)).toEqual({
      FEED_KEYS: { name: "feed-keys", key: "keys" },
      PURGE_TOKEN: { name: "purge-token", key: "token", optional: true },
    });
  });

  test("it has the probes, the security settings and the metrics label of the gateway, and one replica that a roll-out replaces without a gap", () => {
    const gateway = getPod(cluster, "gateway");
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
      expect(pod.container[probe]).toEqual(gateway.container[probe]);
    expect(pod.container.securityContext).toEqual(gateway.container.securityContext);
    expect(pod.spec.securityContext).toEqual(gateway.spec.securityContext);
    expect([pod.spec.automountServiceAccountToken, pod.spec.serviceAccountName]).toEqual([false, "purger"]);
    expect(pod.labels["app.kubernetes.io/part-of"]).toBe("tributary");
    const { replicas, strategy } = cluster.get("Deployment", "purger").spec ?? {};
    expect([replicas, strategy?.rollingUpdate]).toEqual([1, { maxUnavailable: 0, maxSurge: 1 }]);
    const requests = overlay === "local" ? "192Mi" : "128Mi";
    expect(pod.container.resources).toEqual({
      requests: { cpu: "50m", memory: requests },
      limits: { memory: "256Mi" },
    });
    const { expr } = alerts.find(({ alert }) => alert === "MemoryNearLimit") ?? {};
    expect(expr).toContain('process_resident_memory_bytes{job="purger"} > 0.9 * 256 * 2^20');
  });

  test("the gateway and the REST proxy send the tags, and no other process changes", () => {
    for (const { name, readConfig } of units) {
      const isEndpoint = name === "gateway" || name === "rest-proxy";
      const environment = environmentOf(cluster, getPod(cluster, name));
      expect(environment["CDN_TAG_HEADER"]).toBe(isEndpoint ? "Surrogate-Key" : undefined);
      if (isEndpoint) expect(readConfig(environment)).toMatchObject({ tagHeader: expect.anything() });
    }
  });

  test("it reaches the feed of each service, Varnish, and nothing else in the namespace; no pod reaches it", () => {
    const pods = listPods(cluster);
    const reached = pods.flatMap((to) =>
      (to.container.ports ?? [])
        .filter(({ containerPort }) => mayReach(cluster, pod, to, containerPort))
        .map(({ name }) => `${to.name}: ${name}`),
    );
    expect(reached.toSorted()).toEqual(serviceNames.map((name) => `${name}: feed`).toSorted());
    for (const port of [4030, 9464]) expect(pods.filter((from) => mayReach(cluster, from, pod, port))).toEqual([]);
    expect(mayReach(toCluster([...manifests, varnishPolicy]), pod, varnish, 80)).toBe(true);
    expect(mayReach(toCluster([...manifests, varnishPolicy]), getPod(cluster, "gateway"), varnish, 80)).toBe(false);
  });
});

const varnish = { labels: { "app.kubernetes.io/name": "varnish" } };
/** As an operator of Varnish adds it. */
const varnishPolicy: Manifest = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "varnish" },
  spec: { podSelector: { matchLabels: varnish.labels }, ingress: [{ ports: [{ port: 80 }] }] },
};

/** Does what the comment in the overlay says. */
function enablePurger(file: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toContain("  # - ../../purger\n  - settings\n");
  writeFileSync(file, text.replace("# - ../../purger", "- ../../purger"));
}
