// Stage 3 of 5: plan. Which of the features that a supergraph links are served, and which of its directives have no effect.
import {
  type CoreFeature,
  DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES,
  FeatureUrl,
  type Schema,
} from "@apollo/federation-internals";
import { type DocumentNode, Kind, specifiedDirectives } from "graphql";
import { stringOf } from "./supergraph-draft.ts";

/** The features that the planner accepts: its own defaults, and `@cacheTag`, which changes no plan. `@cost` and `@listSize` it ignores. */
export const servedFeatures: ReadonlySet<string> = new Set([
  ...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES,
  "https://specs.apollo.dev/cacheTag/v0.1",
]);

/** For Apollo Gateway, which refuses what it does not know. */
export function withoutCacheTags(supergraphSdl: string): string {
  return supergraphSdl.replaceAll(/@link\(url: "https:\/\/specs\.apollo\.dev\/cacheTag\/[^)]*\)/g, "");
}

/** What the gateway lacks for each unserved feature. By link identity, because a supergraph may give its directives other names. */
const unserved: ReadonlyMap<string, string> = new Map([
  ["https://specs.apollo.dev/authenticated", "would show everybody what @authenticated protects"],
  ["https://specs.apollo.dev/requiresScopes", "would show everybody what @requiresScopes protects"],
  ["https://specs.apollo.dev/policy", "would show everybody what @policy protects"],
  ["https://specs.apollo.dev/context", "cannot give fields the arguments of @fromContext"],
  ["https://specs.apollo.dev/connect", "cannot call the connectors that resolve its fields"],
]);

/**
 * Directives that protect data are never ignored: a supergraph that has them is refused until the gateway enforces them. A link is known by
 * its arguments, because a supergraph may rename `@link` too.
 * @throws Error that names each feature and why.
 */
export function refuseUnservedFeatures({ definitions }: DocumentNode): void {
  const schemas = definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  );
  const problems = schemas.flatMap(({ directives = [] }) =>
    directives.flatMap((link) => {
      const url = stringOf(link, "url") ?? stringOf(link, "feature") ?? "";
      const problem = unserved.get(FeatureUrl.maybeParse(url)?.identity ?? "");
      return problem === undefined ? [] : [`it links ${url}, and the gateway ${problem}`];
    }),
  );
  if (problems.length > 0) throw new Error(`The supergraph cannot be served: ${problems.join("; ")}.`);
}

/** Directives of a supergraph that change nothing in this gateway. */
export interface IneffectiveDirectives {
  /** Of federation, by link URL such as `https://specs.apollo.dev/cost/v0.1#@listSize`. The feature's URL if it is applied by `@join__directive`. */
  readonly federation: readonly string[];
  /** Of teams, composed by `@composeDirective`: they have no meaning to a gateway. */
  readonly custom: readonly string[];
}

const federationSpecs = "https://specs.apollo.dev/";
/** Features that planning and the API schema honour; `@tag` has a meaning to composition only. */
const honoured = new Set(["link", "core", "join", "tag", "inaccessible"].map((name) => federationSpecs + name));
const builtIn = new Set(specifiedDirectives.map(({ name }) => name));

/** Executable directives are not listed: they are forwarded to the subgraphs. */
export function listIneffectiveDirectives(supergraph: Schema): IneffectiveDirectives {
  const features = supergraph.coreFeatures;
  const applied = supergraph.directives().flatMap((one) => {
    const source = features?.sourceFeature(one);
    if (one.applications().size === 0 || builtIn.has(one.name) || isHonoured(source?.feature)) return [];
    return source ? `${String(source.feature.url)}#@${source.nameInFeature ?? one.name}` : `@${one.name}`;
  });
  const linked = [...(features?.allFeatures() ?? [])].flatMap((one) => (isHonoured(one) ? [] : String(one.url)));
  const withoutName = linked.filter((url) => !applied.some((directive) => directive.startsWith(`${url}#`)));
  return {
    federation: [...applied, ...withoutName].filter(isFederation),
    custom: applied.filter((directive) => !isFederation(directive)),
  };
}

function isHonoured(feature: CoreFeature | undefined): boolean {
  return feature !== undefined && honoured.has(feature.url.identity);
}

function isFederation(url: string): boolean {
  return url.startsWith(federationSpecs);
}
