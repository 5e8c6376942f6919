// Stage 3 of 5: how to answer? Which of the features that a supergraph links are served.
import { DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES } from "@apollo/federation-internals";
import { type DocumentNode, Kind } from "graphql";
import { stringOf, isNamed } from "./supergraph-draft.ts";

/** The features that the planner accepts: its own defaults, and `@cacheTag`, which changes no plan. `@cost` and `@listSize` it ignores. */
export const servedFeatures: ReadonlySet<string> = new Set([
  ...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES,
  "https://specs.apollo.dev/cacheTag/v0.1",
]);

/** For Apollo Gateway, which refuses what it does not know. */
export function withoutCacheTags(supergraphSdl: string): string {
  return supergraphSdl.replaceAll(/@link\(url: "https:\/\/specs\.apollo\.dev\/cacheTag\/[^)]*\)/g, "");
}

/** What each unserved feature would do to an answer. Known by the address, because a supergraph may give its directives other names. */
const unserved: ReadonlyMap<string, string> = new Map([
  ["https://specs.apollo.dev/authenticated", "would show everybody what @authenticated protects"],
  ["https://specs.apollo.dev/requiresScopes", "would show everybody what @requiresScopes protects"],
  ["https://specs.apollo.dev/policy", "would show everybody what @policy protects"],
  ["https://specs.apollo.dev/context", "cannot give fields the arguments of @fromContext"],
  ["https://specs.apollo.dev/connect", "cannot call the connectors that resolve its fields"],
]);

/**
 * Directives that protect data are never dropped silently: until the gateway enforces them, it does not serve such a supergraph.
 * @throws Error that names each feature and why.
 */
export function refuseUnservedFeatures({ definitions }: DocumentNode): void {
  const schemas = definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  );
  const links = schemas.flatMap(({ directives = [] }) => directives.filter((one) => isLink(one) || isCore(one)));
  const problems = links.flatMap((link) => {
    const url = stringOf(link, "url") ?? stringOf(link, "feature") ?? "";
    const problem = unserved.get(url.replace(/\/v[\d.]+\/?$/, ""));
    return problem === undefined ? [] : [`it links ${url}, and the gateway ${problem}`];
  });
  if (problems.length > 0) throw new Error(`The supergraph cannot be served: ${problems.join("; ")}.`);
}

const isLink = isNamed("link");
const isCore = isNamed("core");
