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
])("production's route %s", (route, door) => {
  const { spec } = cluster.get("HTTPRoute", route);
  const [rule] = spec?.rules ?? [];

  test("leads to its door, by one rule for one host", () => {
    expect(spec?.rules).toHaveLength(1);
    expect(spec?.hostnames).toHaveLength(1);
    const port = cluster.get("Service", door).spec?.ports?.[0]?.port;
    expect(rule?.backendRefs).toEqual([{ name: door, port }]);
  });

  test("waits longer than its door does", () => {
    const unit = units.find(({ name }) => name === door)!;
    const environment = environmentOf(cluster, getPod(cluster, door));
    const { responseTimeoutMs } = unit.readConfig(environment) as unknown as { responseTimeoutMs: number };
    const seconds = Number(rule?.timeouts?.request?.replace(/s$/, ""));
    expect(seconds * 1_000).toBeGreaterThan(unit.answerMsMax(environment) + responseTimeoutMs);
  });

  test("comes in by a listener that is there, whose host is its own", () => {
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

test("every path that a GraphQL client or its page asks for is published, and nothing else is", () => {
  const paths = ["/graphql", "/schema.graphql", "/graphiql/config.json", "/graphiql/assets/index.js"];
  expect(listRefused("graphql", paths)).toEqual([]);
  expect(listIdle("graphql", paths)).toEqual([]);
});

test("every resource is published in every version and without one, and so is every page that a link leads to", () => {
  const routes = loadRoutes(join(root, "supergraph/routes.json"));
  const resources = routes.flatMap(({ path, versions }) =>
    ["", ...versions.map((version) => `/v${version}`)].map((prefix) => prefix + path.replaceAll(/:\w+/g, "7")),
  );
  const paths = [...resources, ...followLinks("/.well-known/api-catalog")];
  expect(paths).toEqual(expect.arrayContaining(["/v2/users/7", "/users/7", "/openapi/v2.json", "/docs/docs.css"]));
  expect(paths).toContain("/problems/not-found");
  expect(listRefused("rest", paths)).toEqual([]);
  expect(listIdle("rest", paths)).toEqual([]);
});

test("the routes reach the doors through their policies", () => {
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

/** As Gateway API has it: a prefix is one of whole segments, and what is not said is the prefix `/`. */
function admits({ path: { type = "PathPrefix", value = "/" } = {} }: Match, path: string): boolean {
  return path === value || (type === "PathPrefix" && path.startsWith(value.endsWith("/") ? value : `${value}/`));
}

/** What of these paths the route does not let through. */
function listRefused(route: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !matchesOf(route).some((match) => admits(match, path)));
}

/** What of the route none of these paths needs. */
function listIdle(route: string, paths: readonly string[]): readonly Match[] {
  return matchesOf(route).filter((match) => !paths.some((path) => admits(match, path)));
}

/** The pages that the REST proxy answers by itself and that links of others lead to, from one on. */
function followLinks(start: string): readonly string[] {
  const documents = createDocuments({ retirements: [], texts: loadDocuments(join(root, "supergraph/openapi")) });
  const found = new Set([start]);
  for (const path of found) {
    const text = documents.find({ method: "GET", path, headers: { accept: "*/*" } })?.bytes.toString() ?? "";
    for (const [, link = ""] of text.matchAll(/"?(?:href|src)"?[:=]\s?"(\/[^"#]*)/g)) {
      if (documents.find({ method: "HEAD", path: link, headers: {} })) found.add(link);
    }
  }
  return [...found];
}
