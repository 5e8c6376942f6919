// The features that a supergraph links: supported features, features for which the gateway rejects the supergraph, and directives without effect.
import { type CoreFeature, DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, type Schema } from "@apollo/federation-internals";
import { findUnsupportedDirectives } from "@tributary/kit/federation/unsupported-directives";
import { type DocumentNode, specifiedDirectives } from "graphql";
import { priorityFeature } from "./root-field-priorities.ts";

const contextFeature = "https://specs.apollo.dev/context";

/** The planner's default features, `@context`, which it supports too, and `@cacheTag`, which changes no plan. */
export const supportedFeatures: ReadonlySet<string> = new Set([
  ...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES,
  `${contextFeature}/v0.1`,
  "https://specs.apollo.dev/cacheTag/v0.1",
]);

const cacheTagLinks = /@link\(url: "https:\/\/specs\.apollo\.dev\/cacheTag\/[^)]*\)/g;

/**
 * What Apollo Gateway, which rejects features that it does not know, can validate: without the links to `@cacheTag` (the uses of the directive
 * remain), and undefined for a supergraph with contexts, which it cannot load.
 */
export function forApolloGateway(supergraphSdl: string): string | undefined {
  return supergraphSdl.includes(`@link(url: "${contextFeature}/`)
    ? undefined
    : supergraphSdl.replaceAll(cacheTagLinks, "");
}

/**
 * Rejects supergraphs with directives that the gateway cannot serve: those that protect data must not be ignored.
 * @throws Error that names each feature and the reason.
 */
export function rejectUnsupportedFeatures(supergraph: DocumentNode): void {
  const problems = new Set(findUnsupportedDirectives(supergraph).map(({ problem }) => problem));
  if (problems.size > 0) throw new Error(`The supergraph cannot be served: ${[...problems].join("; ")}.`);
}

/** Directives of a supergraph that have no effect in this gateway. The gateway logs them. */
export interface IneffectiveDirectives {
  /**
   * Apollo's directives, by link URL such as `https://specs.apollo.dev/cost/v0.1#@listSize`. A linked feature none of whose directives is applied by
   * its name has its URL alone: `@join__directive` may apply them.
   */
  readonly federation: readonly string[];
  /** Directives of subgraph teams, added by `@composeDirective`. */
  readonly custom: readonly string[];
}

const federationSpecs = "https://specs.apollo.dev/";
/** Features with an effect on planning, on the API schema or on priority; `@tag` is for composition only. */
const effectiveFeatures = new Set([
  "https://specs.apollo.dev/link",
  "https://specs.apollo.dev/core",
  "https://specs.apollo.dev/join",
  "https://specs.apollo.dev/tag",
  "https://specs.apollo.dev/inaccessible",
  contextFeature,
  priorityFeature,
]);
const builtInDirectives = new Set(specifiedDirectives.map(({ name }) => name));

/** Lists the directives without effect that the supergraph applies. Uses in operations do not count: the gateway forwards them to subgraphs. */
export function listIneffectiveDirectives(supergraph: Schema): IneffectiveDirectives {
  const features = supergraph.coreFeatures;
  const applied = supergraph.directives().flatMap((directive) => {
    const source = features?.sourceFeature(directive);
    const hasEffect = builtInDirectives.has(directive.name) || isEffective(source?.feature);
    if (hasEffect || directive.applications().size === 0) return [];
    if (!source) return [`@${directive.name}`];
    return [`${String(source.feature.url)}#@${source.nameInFeature ?? directive.name}`];
  });
  const linkedFeatures = [...(features?.allFeatures() ?? [])].filter((feature) => !isEffective(feature));
  const linkUrls = linkedFeatures.map(({ url }) => String(url));
  const urlsWithoutUse = linkUrls.filter((url) => !applied.some((directive) => directive.startsWith(`${url}#`)));
  return {
    federation: [...applied, ...urlsWithoutUse].filter(isFederation),
    custom: applied.filter((directive) => !isFederation(directive)),
  };
}

function isEffective(feature: CoreFeature | undefined): boolean {
  return feature !== undefined && effectiveFeatures.has(feature.url.identity);
}

function isFederation(url: string): boolean {
  return url.startsWith(federationSpecs);
}
