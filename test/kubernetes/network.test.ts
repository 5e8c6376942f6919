import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Cluster, environmentOf, getPod, listPods, type Pod, renderOverlay, selectPods } from "./cluster.ts";
import { root } from "./folders.ts";
import { serviceNames, units } from "./units.ts";

const adminPort = 9464;

describe.each(["local", "production"])("in %s", (overlay) => {
  const cluster = renderOverlay(overlay);

  test("by default no pod may send or receive traffic", () => {
    const { spec } = cluster.get("NetworkPolicy", "default-deny");
    expect(spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  test("every pod may query cluster DNS only", () => {
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } };
    // One peer with both selectors. Two peers would admit all of kube-system, and any pod here with this label.
    const peer = { namespaceSelector, podSelector: { matchLabels: { "k8s-app": "kube-dns" } } };
    const ports = ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 }));
    const { spec } = cluster.get("NetworkPolicy", "dns");
    expect(spec).toEqual({ podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [peer], ports }] });
  });

  test("the namespace enforces the restricted Pod Security Standard", () => {
    const { labels } = cluster.get("Namespace", "tributary").metadata ?? {};
    expect(labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
  });

  test("every Service selects one unit, with the port that its process listens on", () => {
    for (const { metadata, spec } of cluster.all("Service")) {
      const pods = selectPods(cluster, spec?.selector ?? { nothing: "" });
      expect(pods.map(({ name }) => name)).toEqual([metadata?.name]);
      const ports = pods[0]?.container.ports ?? [];
      // A headless Service resolves to the pods' addresses, so its ports must equal theirs.
      const published = spec?.ports?.map(({ port, targetPort }) => ({ name: targetPort, containerPort: port }));
      expect(ports).toEqual(expect.arrayContaining(published ?? []));
    }
  });

  test.each(["gateway", "rest-proxy"])("%s finds each service's replicas by its name", (name) => {
    const environment = environmentOf(cluster, getPod(cluster, name));
    for (const service of serviceNames) {
      const variable = name === "gateway" ? `SUBGRAPH_URL_${service.toUpperCase()}` : `${service.toUpperCase()}_URL`;
      const { hostname, port, pathname } = new URL(environment[variable] ?? "");
      const { spec } = cluster.get("Service", hostname);
      expect([hostname, pathname]).toEqual([service, name === "gateway" ? "/graphql" : "/"]);
      expect(spec?.clusterIP).toBe("None");
      expect(spec?.ports?.map((entry) => String(entry.port))).toEqual([port]);
      expect(mayReach(cluster, getPod(cluster, name), getPod(cluster, service), Number(port))).toBe(true);
    }
  });

  test("only a service and its Jobs reach its database's pods", () => {
    for (const service of serviceNames) {
      const database = { name: `${service}-db`, labels: { "cnpg.io/cluster": `${service}-db` } };
      const callers = listPods(cluster).filter((pod) => mayReach(cluster, pod, database, 5432));
      const jobs = [`migrate-${service}`, ...(overlay === "local" ? ["seed"] : [])];
      expect(new Set(callers.map(({ name }) => name))).toEqual(new Set([service, ...jobs]));
    }
  });

  test("only the gateway and the REST proxy reach the services, and only the services reach the local issuer", () => {
    const pods = listPods(cluster);
    const connections = pods.flatMap((from) =>
      pods
        .filter((to) => portsOf(to).some((port) => mayReach(cluster, from, to, port)))
        .map((to) => `${from.name} → ${to.name}`),
    );
    const toServices = ["gateway", "rest-proxy"].flatMap((caller) =>
      serviceNames.map((service) => `${caller} → ${service}`),
    );
    const toIssuer = overlay === "local" ? serviceNames.map((service) => `${service} → issuer`) : [];
    expect(connections.sort()).toEqual([...toServices, ...toIssuer].sort());
  });

  test("pods of the gateway and the REST proxy keep their connections when their component label changes", () => {
    for (const name of ["gateway", "rest-proxy"]) {
      const { labels } = getPod(cluster, name);
      const previous = { labels: { ...labels, "app.kubernetes.io/component": "previous-release" } };
      for (const service of serviceNames) {
        const pod = getPod(cluster, service);
        expect(portsOf(pod).some((port) => mayReach(cluster, previous, pod, port))).toBe(true);
      }
      // Only production has this policy.
      const published = cluster.all("NetworkPolicy").filter(({ metadata }) => metadata?.name === "public");
      for (const { spec } of published) expect(matches(spec?.podSelector, previous.labels)).toBe(true);
    }
  });

  test("only the monitoring namespace reaches the metrics, and no Service names their port", () => {
    const admitting = cluster.all("NetworkPolicy").filter(({ spec }) => {
      return (spec?.ingress ?? []).some(({ ports }) => !ports || ports.some(({ port }) => port === adminPort));
    });
    expect(admitting.map(({ metadata }) => metadata?.name)).toEqual(["metrics"]);
    const monitoring = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } };
    expect(admitting[0]?.spec?.ingress?.map(({ from }) => from)).toEqual([[monitoring]]);
    const published = cluster.all("Service").flatMap(({ spec }) => spec?.ports ?? []);
    expect(published.filter(({ port, targetPort }) => port === adminPort || targetPort === "admin")).toEqual([]);
    for (const { name, ...unit } of units) {
      const pod = getPod(cluster, name);
      expect(pod.container.ports).toContainEqual({ name: "admin", containerPort: adminPort });
      expect(unit.readConfig(environmentOf(cluster, pod))).toMatchObject({ adminPort, adminHost: "0.0.0.0" });
      expect(pod.labels).toMatchObject(admitting[0]?.spec?.podSelector?.matchLabels ?? { nothing: "" });
    }
  });

  test("the egress policy admits the port of the trace collector", () => {
    for (const { name } of units) {
      const endpoint = environmentOf(cluster, getPod(cluster, name))["OTEL_EXPORTER_OTLP_ENDPOINT"];
      const { hostname, port } = new URL(endpoint || "http://none.monitoring:4318");
      expect(hostname.split(".")[1]).toBe("monitoring");
      const rules = cluster.get("NetworkPolicy", "traces").spec?.egress;
      expect(rules?.map(({ ports }) => ports?.map((entry) => String(entry.port)))).toEqual([[port]]);
    }
  });

  test("every policy selects a pod", () => {
    const databases = serviceNames.map((name) => ({ labels: { "cnpg.io/cluster": `${name}-db` } }));
    const unused = cluster.all("NetworkPolicy").filter(({ spec }) => {
      return ![...listPods(cluster), ...databases].some(({ labels }) => matches(spec?.podSelector, labels));
    });
    expect(unused.map(({ metadata }) => metadata?.name)).toEqual([]);
  });
});

test("Prometheus discovers the pods' metrics by namespace and port name", () => {
  const text = readFileSync(join(root, "infra/observability/prometheus-kubernetes.yml"), "utf8");
  const [{ kubernetes_sd_configs: discovery, relabel_configs: rules }] = parse(text).scrape_configs;
  expect(discovery).toEqual([{ role: "pod", namespaces: { names: ["tributary"] } }]);
  const keepAdminPort = {
    source_labels: ["__meta_kubernetes_pod_container_port_name"],
    regex: "admin",
    action: "keep",
  };
  expect(rules).toContainEqual(keepAdminPort);
});

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?: readonly Expression[] | null;
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

function matches(selector: Selector | null | undefined, labels: Labelled["labels"]): boolean {
  if (!selector) return false;
  const hasAll = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return hasAll && (selector.matchExpressions ?? []).every((expression) => holds(expression, labels));
}

/** The policies use only the operators `Exists` and `In`; any other one matches nothing here. */
function holds({ key, operator, values }: Expression, labels: Labelled["labels"]): boolean {
  const value = labels[key];
  if (value === undefined) return false;
  return operator === "Exists" || (operator === "In" && (values ?? []).includes(value));
}

/** True if the egress rules of `from` and the ingress rules of `to` both admit the connection. */
function mayReach(cluster: Cluster, from: Labelled, to: Labelled, port: number): boolean {
  const policies = cluster.all("NetworkPolicy").map(({ spec }) => spec);
  const egress = policies.some(
    (spec) =>
      matches(spec?.podSelector, from.labels) &&
      (spec?.egress ?? []).some((rule) => admits(rule.to, rule.ports, to, port)),
  );
  const ingress = policies.some(
    (spec) =>
      matches(spec?.podSelector, to.labels) &&
      (spec?.ingress ?? []).some((rule) => admits(rule.from, rule.ports, from, port)),
  );
  return egress && ingress;
}

interface Peer {
  readonly podSelector?: Selector | null;
  readonly namespaceSelector?: unknown;
}

/** A rule without peers admits all pods, and one without ports all ports. A peer in another namespace matches none of the pods. */
function admits(
  peers: readonly Peer[] | null | undefined,
  ports: readonly { readonly port?: number | string | null }[] | null | undefined,
  other: Labelled,
  port: number,
): boolean {
  const isPeer = !peers || peers.some((peer) => !peer.namespaceSelector && matches(peer.podSelector, other.labels));
  return isPeer && (!ports || ports.some((entry) => entry.port === port));
}

function portsOf({ container }: Pod): readonly number[] {
  return (container.ports ?? []).map(({ containerPort }) => containerPort);
}
