// The environment variables of the entity cache (run/caching/entity-cache.ts). config.ts reads them with all others.
import { readFollowedFeedsConfig } from "@tributary/kit/feed/feed-config";
import type { EnvironmentReader } from "@tributary/kit/process/env";
import { variableNameOf } from "./supergraph/addresses.ts";

/** Names subgraphs as the variables do, such as `USERS` (`variableSuffixOf`), since the supergraph with their exact names is not loaded yet. */
export interface EntityCacheConfig {
  /** The subgraphs whose results are cached. */
  readonly services: ReadonlySet<string>;
  readonly bytesMax: number;
  /** The URLs of the change feed of each of these subgraphs that has one. */
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
}

const cachePrefix = "ENTITY_CACHE_";
const feedPrefix = "SUBGRAPH_FEED_URL_";
/** Has the prefix of the variables of the subgraphs, but names no subgraph. */
const bytesMaxVariable = "ENTITY_CACHE_BYTES_MAX";

/**
 * @param subgraphUrls the URLs in `SUBGRAPH_URL_<NAME>`, by variable.
 * @returns undefined if no subgraph is cached.
 */
export function readEntityCacheConfig(
  env: EnvironmentReader,
  profile: "development" | "production",
  subgraphUrls: Readonly<Record<string, readonly string[]>>,
): EntityCacheConfig | undefined {
  const bytesMax = env.integer(bytesMaxVariable, {
    fallback: 67_108_864,
    min: 100_000,
    max: 10_000_000_000,
    why: "estimated memory of the entity cache; the results that were not used for the longest time are evicted",
  });
  const services: string[] = [];
  for (const [name, value] of Object.entries(env.withPrefix(cachePrefix))) {
    if (name === bytesMaxVariable) continue;
    if (value === "on") services.push(name.slice(cachePrefix.length));
    else if (value !== "off") env.problem(`${name} is neither on nor off`);
  }
  // Declares the prefix, so that these variables are not reported as misspelt when no subgraph is cached.
  env.withPrefix(feedPrefix);
  if (services.length === 0) return undefined;
  // The default URLs of a feed follow from these. Without them, a subgraph has a feed only if SUBGRAPH_FEED_URL_<NAME> is set.
  const urlsByService: Record<string, readonly string[]> = {};
  for (const service of services) urlsByService[service] = subgraphUrls[`SUBGRAPH_URL_${service}`] ?? [];
  const variableOf = (service: string) => `${feedPrefix}${service}`;
  const feeds = readFollowedFeedsConfig(env, profile, urlsByService, variableOf);
  return { services: new Set(services), bytesMax, ...feeds };
}

/** The services whose feeds the gateway follows, as logs and metrics name them. */
export function listFollowedServices(config: EntityCacheConfig | undefined): readonly string[] {
  return Object.keys(config?.feedUrls ?? {}).map(serviceOfVariableSuffix);
}

/**
 * The name of a service in logs and metrics, by its name in the configuration: `line-items` for `LINE_ITEMS`. The feeds are followed before a
 * supergraph with the exact names is loaded, so a subgraph whose name has other characters than lower-case letters, digits and hyphens gets another
 * name here.
 */
export function serviceOfVariableSuffix(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

/** The name of a subgraph in the configuration. */
export function variableSuffixOf(subgraph: string): string {
  return variableNameOf("ENTITY_CACHE", subgraph).slice(cachePrefix.length);
}
