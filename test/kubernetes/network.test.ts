import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import { createDocuments } from "../../rest-proxy/src/documents/documents.ts";
import { feedPortOf } from "../../kit/src/feed/feed-config.ts";
import type { ServiceConfig } from "../../kit/src/service/service-config.ts";
import { loadDocuments } from "../../rest-proxy/src/documents/load.ts";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { environmentOf, getPod, listPods, type Pod, renderOverlay, selectPods } from "./cluster.ts";
import { root } from "./folders.ts";
import { matches, mayReach } from "./policies.ts";
import { serviceNames, services } from "../services.ts";
import { units } from "./units.ts";

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
    for (const { name: service, variablePrefix } of services) {
      const variable = name === "gateway" ? `SUBGRAPH_URL_${variablePrefix}` : `${variablePrefix}_URL`;
      const { hostname, port, pathname } = new URL(environment[variable] ?? "");
      const { spec } = cluster.get("Service", hostname);
      expect([hostname, pathname]).toEqual([service, name === "gateway" ? "/graphql" : "/"]);
      expect(spec?.clusterIP).toBe("None");
      expect(spec?.ports?.filter((entry) => entry.name === "http").map((entry) => String(entry.port))).toEqual([port]);
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

  test("only the gateway and the REST proxy reach the services and the rate limit store; they and the services reach the local issuer", () => {
    const pods = listPods(cluster);
    const connections = pods.flatMap((from) =>
      pods
        .filter((to) => portsOf(to).some((port) => mayReach(cluster, from, to, port)))
        .map((to) => `${from.name} → ${to.name}`),
    );
    const toServices = ["gateway", "rest-proxy"].flatMap((caller) =>
      serviceNames.map((service) => `${caller} → ${service}`),
    );
    const verifiers = [...serviceNames, "gateway", "rest-proxy"];
    const toIssuer = overlay === "local" ? verifiers.map((verifier) => `${verifier} → issuer`) : [];
    const toStore = ["gateway", "rest-proxy"].map((caller) => `${caller} → rate-limit-store`);
    expect(connections.sort()).toEqual([...toServices, ...toIssuer, ...toStore].sort());
  });

  test.each(serviceNames)(
    "only the gateway and the REST proxy reach the change feed of %s, on the default port",
    (name) => {
      const service = getPod(cluster, name);
      const { port, feedPort } = readConfigOf(name)(environmentOf(cluster, service)) as unknown as ServiceConfig;
      expect([portOf(service, "http"), portOf(service, "feed")]).toEqual([port, feedPort]);
      const published = cluster.get("Service", name).spec?.ports?.find((entry) => entry.name === "feed");
      expect(published).toMatchObject({ port: feedPortOf(port), targetPort: "feed" });
      const callers = listPods(cluster).filter((pod) => mayReach(cluster, pod, service, feedPort));
      expect(callers.map((pod) => pod.name).sort()).toEqual(["gateway", "rest-proxy"]);
    },
  );

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

const production = renderOverlay("production");

describe.each([
  ["graphql", "gateway"],
  ["rest", "rest-proxy"],
])("production's route %s", (route, unitName) => {
  const { spec } = production.get("HTTPRoute", route);
  const [rule] = spec?.rules ?? [];

  test("has one rule for one host, and forwards to its Service", () => {
    expect(spec?.rules).toHaveLength(1);
    expect(spec?.hostnames).toHaveLength(1);
    const port = production.get("Service", unitName).spec?.ports?.[0]?.port;
    expect(rule?.backendRefs).toEqual([{ name: unitName, port }]);
  });

  test("has a longer timeout than its unit", () => {
    const unit = units.find(({ name }) => name === unitName)!;
    const environment = environmentOf(production, getPod(production, unitName));
    const { responseTimeoutMs } = unit.readConfig(environment) as unknown as { responseTimeoutMs: number };
    const seconds = Number(rule?.timeouts?.request?.replace(/s$/, ""));
    expect(seconds * 1_000).toBeGreaterThan(unit.requestMsMax(environment) + responseTimeoutMs);
  });

  test("is attached to an existing HTTPS listener for its host", () => {
    const [parent] = spec?.parentRefs ?? [];
    const gateway = production.get("Gateway", parent?.name ?? "");
    expect(gateway.metadata?.namespace).toBe(parent?.namespace);
    const listener = gateway.spec.listeners.find(({ name }) => name === parent?.sectionName);
    const suffix = listener?.hostname?.replace("*", "") ?? "none";
    expect(spec?.hostnames?.every((host) => host.endsWith(suffix))).toBe(true);
    expect(listener?.protocol).toBe("HTTPS");
  });

  test("publishes no health, metrics or internal path", () => {
    const paths = ["/health/live", "/health/ready", "/health", "/metrics", "/rest/v1/users", "/v99/users", "/graphqlx"];
    for (const path of paths) expect(matchesOf(route).filter((match) => publishes(match, path))).toEqual([]);
  });
});

test("exactly the front page and the paths of GraphQL clients and GraphiQL are published", () => {
  const paths = [
    "/",
    "/graphql",
    "/graphql/person-1",
    "/schema.graphql",
    "/graphiql/config.json",
    "/graphiql/assets/index.js",
  ];
  expect(listUnmatchedPaths("graphql", paths)).toEqual([]);
  expect(listUnusedMatches("graphql", paths)).toEqual([]);
});

test("every resource is published with and without a version, and so is every linked page", () => {
  const routes = loadRoutes(join(root, "supergraph/routes.json"));
  const resources = routes.flatMap(({ path, versions }) =>
    ["", ...versions.map((version) => `/v${version}`)].map((prefix) => prefix + path.replaceAll(/:\w+/g, "7")),
  );
  const paths = [...resources, ...followLinks("/")];
  expect(paths).toEqual(expect.arrayContaining(["/", "/v2/users/7", "/users/7", "/openapi/v2.json", "/docs/docs.css"]));
  expect(paths).toContain("/problems/not-found");
  expect(listUnmatchedPaths("rest", paths)).toEqual([]);
  expect(listUnusedMatches("rest", paths)).toEqual([]);
});

test("the network policy admits the routes' traffic to the gateway and the REST proxy", () => {
  const { spec } = production.get("NetworkPolicy", "public");
  expect(spec?.ingress?.[0]?.ports?.map(({ port }) => port)).toEqual([4000, 4010]);
  const namespace = production.all("Gateway")[0]?.metadata?.namespace;
  expect(spec?.ingress?.[0]?.from).toEqual([
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } },
  ]);
});

function readConfigOf(name: string) {
  const unit = units.find((candidate) => candidate.name === name);
  if (!unit) throw new Error(`${name} is not a unit`);
  return unit.readConfig;
}

function portOf({ container }: Pod, name: string): number {
  return container.ports?.find((port) => port.name === name)?.containerPort ?? 0;
}

function portsOf({ container }: Pod): readonly number[] {
  return (container.ports ?? []).map(({ containerPort }) => containerPort);
}

type Rule = NonNullable<NonNullable<HTTPRoute["spec"]>["rules"]>[number];
type Match = NonNullable<Rule["matches"]>[number];

function matchesOf(route: string): readonly Match[] {
  return (production.get("HTTPRoute", route).spec?.rules ?? []).flatMap(({ matches }) => [...(matches ?? [{}])]);
}

/** Matches as Gateway API specifies: a prefix matches whole segments, and the default is the prefix `/`. */
function publishes({ path: { type = "PathPrefix", value = "/" } = {} }: Match, path: string): boolean {
  return path === value || (type === "PathPrefix" && path.startsWith(value.endsWith("/") ? value : `${value}/`));
}

function listUnmatchedPaths(route: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !matchesOf(route).some((match) => publishes(match, path)));
}

function listUnusedMatches(route: string, paths: readonly string[]): readonly Match[] {
  return matchesOf(route).filter((match) => !paths.some((path) => publishes(match, path)));
}

/** The REST proxy's own pages that links lead to, directly or indirectly, from a first page. */
function followLinks(start: string): readonly string[] {
  const documents = createDocuments({
    retirements: [],
    texts: loadDocuments(join(root, "supergraph/openapi")),
    frontPage: { version: "1.2.3" },
  });
  const pages = new Set([start]);
  for (const path of pages) {
    const text = documents.find(path)?.respond("GET", { accept: "text/html, */*;q=0.5" }).bytes.toString() ?? "";
    for (const [, link = ""] of text.matchAll(/"?(?:href|src)"?[:=]\s?"(\/[^"#]*)/g)) {
      if (documents.find(link)) pages.add(link);
    }
  }
  return [...pages];
}
