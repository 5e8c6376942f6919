import { join } from "node:path";
import type { HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import { describe, expect, test } from "vitest";
import { createDocuments } from "../../rest-proxy/src/documents/documents.ts";
import { loadDocuments } from "../../rest-proxy/src/documents/load.ts";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { root } from "./folders.ts";
import { units } from "./units.ts";

const cluster = renderOverlay("production");

describe.each([
  ["graphql", "gateway"],
  ["rest", "rest-proxy"],
])("production's route %s", (route, unitName) => {
  const { spec } = cluster.get("HTTPRoute", route);
  const [rule] = spec?.rules ?? [];

  test("has one rule for one host, and forwards to its Service", () => {
    expect(spec?.rules).toHaveLength(1);
    expect(spec?.hostnames).toHaveLength(1);
    const port = cluster.get("Service", unitName).spec?.ports?.[0]?.port;
    expect(rule?.backendRefs).toEqual([{ name: unitName, port }]);
  });

  test("has a longer timeout than its unit", () => {
    const unit = units.find(({ name }) => name === unitName)!;
    const environment = environmentOf(cluster, getPod(cluster, unitName));
    const { responseTimeoutMs } = unit.readConfig(environment) as unknown as { responseTimeoutMs: number };
    const seconds = Number(rule?.timeouts?.request?.replace(/s$/, ""));
    expect(seconds * 1_000).toBeGreaterThan(unit.requestMsMax(environment) + responseTimeoutMs);
  });

  test("is attached to an existing HTTPS listener for its host", () => {
    const [parent] = spec?.parentRefs ?? [];
    const gateway = cluster.get("Gateway", parent?.name ?? "");
    expect(gateway.metadata?.namespace).toBe(parent?.namespace);
    const listener = gateway.spec.listeners.find(({ name }) => name === parent?.sectionName);
    const suffix = listener?.hostname?.replace("*", "") ?? "none";
    expect(spec?.hostnames?.every((host) => host.endsWith(suffix))).toBe(true);
    expect(listener?.protocol).toBe("HTTPS");
  });

  test.each(["/health/live", "/health/ready", "/health", "/metrics", "/rest/v1/users", "/", "/v99/users", "/graphqlx"])(
    "does not publish %s",
    (path) => expect(matchesOf(route).filter((match) => admits(match, path))).toEqual([]),
  );
});

test("exactly the paths of GraphQL clients and GraphiQL are published", () => {
  const paths = ["/graphql", "/schema.graphql", "/graphiql/config.json", "/graphiql/assets/index.js"];
  expect(listUnmatchedPaths("graphql", paths)).toEqual([]);
  expect(listUnusedMatches("graphql", paths)).toEqual([]);
});

test("every resource is published with and without a version, and so is every linked page", () => {
  const routes = loadRoutes(join(root, "supergraph/routes.json"));
  const resources = routes.flatMap(({ path, versions }) =>
    ["", ...versions.map((version) => `/v${version}`)].map((prefix) => prefix + path.replaceAll(/:\w+/g, "7")),
  );
  const paths = [...resources, ...followLinks("/.well-known/api-catalog")];
  expect(paths).toEqual(expect.arrayContaining(["/v2/users/7", "/users/7", "/openapi/v2.json", "/docs/docs.css"]));
  expect(paths).toContain("/problems/not-found");
  expect(listUnmatchedPaths("rest", paths)).toEqual([]);
  expect(listUnusedMatches("rest", paths)).toEqual([]);
});

test("the network policy admits the routes' traffic to the gateway and the REST proxy", () => {
  const { spec } = cluster.get("NetworkPolicy", "public");
  expect(spec?.ingress?.[0]?.ports?.map(({ port }) => port)).toEqual([4000, 4010]);
  const namespace = cluster.all("Gateway")[0]?.metadata?.namespace;
  expect(spec?.ingress?.[0]?.from).toEqual([
    { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } },
  ]);
});

type Rule = NonNullable<NonNullable<HTTPRoute["spec"]>["rules"]>[number];
type Match = NonNullable<Rule["matches"]>[number];

function matchesOf(route: string): readonly Match[] {
  return (cluster.get("HTTPRoute", route).spec?.rules ?? []).flatMap(({ matches }) => [...(matches ?? [{}])]);
}

/** Matches as Gateway API specifies: a prefix matches whole segments, and the default is the prefix `/`. */
function admits({ path: { type = "PathPrefix", value = "/" } = {} }: Match, path: string): boolean {
  return path === value || (type === "PathPrefix" && path.startsWith(value.endsWith("/") ? value : `${value}/`));
}

function listUnmatchedPaths(route: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !matchesOf(route).some((match) => admits(match, path)));
}

function listUnusedMatches(route: string, paths: readonly string[]): readonly Match[] {
  return matchesOf(route).filter((match) => !paths.some((path) => admits(match, path)));
}

/** The REST proxy's own pages that links lead to, directly or indirectly, from a first page. */
function followLinks(start: string): readonly string[] {
  const documents = createDocuments({ retirements: [], texts: loadDocuments(join(root, "supergraph/openapi")) });
  const pages = new Set([start]);
  for (const path of pages) {
    const text = documents.find(path)?.respond("GET", { accept: "*/*" }).bytes.toString() ?? "";
    for (const [, link = ""] of text.matchAll(/"?(?:href|src)"?[:=]\s?"(\/[^"#]*)/g)) {
      if (documents.find(link)) pages.add(link);
    }
  }
  return [...pages];
}
