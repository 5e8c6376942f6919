// The environment variables of the entity cache.
import { readFollowedFeedsConfig } from "@tributary/kit/feed/feed-config";
import type { EnvironmentReader } from "@tributary/kit/process/env";
import { variableNameOf } from "./supergraph/addresses.ts";

/** Names subgraphs as the variables do, such as `USERS`: the supergraph with their exact names is not loaded yet. */
export interface EntityCacheConfig {
  readonly services: ReadonlySet<string>;
  readonly bytesMax: number;
  /** Of each of these that has a change feed. */
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
}

const cachePrefix = "ENTITY_CACHE_";
const feedPrefix = "SUBGRAPH_FEED_URL_";
/** Names no subgraph. */
const bytesMaxVariable = "ENTITY_CACHE_BYTES_MAX";

/** @param subgraphUrls by variable. */
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
  // So that these variables are not reported as misspelt when no subgraph is cached.
  env.withPrefix(feedPrefix);
  if (services.length === 0) return undefined;
  // The default URLs of a feed follow from these.
  const urlsByService: Record<string, readonly string[]> = {};
  for (const service of services) urlsByService[service] = subgraphUrls[`SUBGRAPH_URL_${service}`] ?? [];
  const variableOf = (service: string) => `${feedPrefix}${service}`;
  const feeds = readFollowedFeedsConfig(env, profile, urlsByService, variableOf);
  return { services: new Set(services), bytesMax, ...feeds };
}

export function listFollowedServices(config: EntityCacheConfig | undefined): readonly string[] {
  return Object.keys(config?.feedUrls ?? {}).map(serviceOfVariableSuffix);
}

/** In logs and metrics: `line-items` for `LINE_ITEMS`. Another name than in the supergraph if that has other characters. */
export function serviceOfVariableSuffix(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

export function variableSuffixOf(subgraph: string): string {
  return variableNameOf("ENTITY_CACHE", subgraph).slice(cachePrefix.length);
}
