// The environment variables of subgraphs, read once at start. Those of one subgraph end with its name. A further setting of a subgraph is declared in
// subgraph-schema.ts, and here if it has a variable; subgraph-settings.ts resolves both.
import { type FollowedFeedsConfig, readFollowedFeedsConfig } from "@tributary/kit/feed/feed-config";
import { isHttpUrl } from "@tributary/kit/http/http-url";
import type { EnvironmentReader } from "@tributary/kit/process/env";
import type { SubgraphSections } from "./subgraph-schema.ts";
import { haveSameCredentials } from "./url-credentials.ts";

/** The variables of single subgraphs, by the suffix of their names, since the supergraph with the names of its subgraphs is not loaded yet. */
export interface SubgraphVariables {
  /** Undefined if it is not set: gateway.yaml, or the default. */
  readonly timeoutMs: number | undefined;
  readonly bodyBytesMax: number | undefined;
  /** `SUBGRAPH_URL_<NAME>` */
  readonly urls: ReadonlyMap<string, readonly string[]>;
  /** `SUBGRAPH_KEY_CHECK_<NAME>` */
  readonly checksKeys: ReadonlyMap<string, boolean>;
  /** The suffixes of `SUBGRAPH_FEED_URL_<NAME>` */
  readonly feeds: ReadonlySet<string>;
  /** `ENTITY_CACHE_<NAME>=on` */
  readonly cached: ReadonlySet<string>;
  /** Undefined if no subgraph is cached. */
  readonly entityCache: EntityCacheSettings | undefined;
}

interface EntityCacheSettings extends FollowedFeedsConfig {
  /** The subgraphs whose results are cached, as `followedNameOf` names them. */
  readonly services: ReadonlySet<string>;
  readonly bytesMax: number;
}

export const urlPrefix = "SUBGRAPH_URL_";
export const keyCheckPrefix = "SUBGRAPH_KEY_CHECK_";
export const cachePrefix = "ENTITY_CACHE_";
export const feedPrefix = "SUBGRAPH_FEED_URL_";
/** Has the prefix of the variables of the subgraphs, but names no subgraph. */
const bytesMaxVariable = "ENTITY_CACHE_BYTES_MAX";

/** The most URLs of one subgraph. It can have more replicas, since a DNS name can have several addresses. */
const subgraphUrlsMax = 64;

/** The suffix of the variables of a subgraph: `LINE_ITEMS` for `line-items`. */
export function suffixOf(subgraph: string): string {
  return subgraph.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}

/**
 * The name of a subgraph in the configuration and the store of the entity cache, in feeds, and in metrics of feeds. It is the subgraph's own name, if that consists of lower-case letters,
 * digits and hyphens: feeds are followed before the supergraph with the exact names is loaded.
 */
export function followedNameOf(subgraph: string): string {
  return suffixOf(subgraph).toLowerCase().replaceAll("_", "-");
}

export function readSubgraphVariables(
  env: EnvironmentReader,
  profile: "development" | "production",
  file: Pick<SubgraphSections, "subgraphs">,
): SubgraphVariables {
  const urls = readEach(env, urlPrefix, (value, name) => readUrls(env, value, name));
  const checksKeys = readEach(env, keyCheckPrefix, (value, name) => readSwitch(env, value, name));
  const caching = readEach(env, cachePrefix, (value, name) =>
    name === bytesMaxVariable ? false : readSwitch(env, value, name),
  );
  // Declares the prefix too, so that these variables are not reported as misspelt when no subgraph is cached.
  const feeds = readEach(env, feedPrefix, () => true);
  const cached = new Set([...caching.keys()].filter((suffix) => caching.get(suffix)));
  return {
    timeoutMs: env.optionalInteger("SUBGRAPH_TIMEOUT_MS", {
      min: 10,
      max: 300_000,
      why: "the deadline of one fetch from a subgraph, body included; 10,000 by default, or as gateway.yaml says",
    }),
    bodyBytesMax: env.optionalInteger("SUBGRAPH_BODY_BYTES_MAX", {
      min: 1_000,
      max: 1_000_000_000,
      why: "a longer response of a subgraph is not read to the end and counts as a failure; 10,000,000 by default, or as gateway.yaml says",
    }),
    urls,
    checksKeys,
    feeds: new Set(feeds.keys()),
    cached,
    entityCache: readEntityCache(env, profile, { urls, caching }, file),
  };
}

function readEntityCache(
  env: EnvironmentReader,
  profile: "development" | "production",
  { urls, caching }: Pick<SubgraphVariables, "urls"> & { readonly caching: ReadonlyMap<string, boolean> },
  { subgraphs = {} }: Pick<SubgraphSections, "subgraphs">,
): EntityCacheSettings | undefined {
  const bytesMax = env.integer(bytesMaxVariable, {
    fallback: 67_108_864,
    min: 100_000,
    max: 10_000_000_000,
    why: "estimated memory of the entity cache; results that were not used lately are evicted; parts of it are for request texts and for whole results",
  });
  const bySuffix = new Map(Object.entries(subgraphs).map(([name, settings]) => [suffixOf(name), settings]));
  const inFile = [...bySuffix].filter(([, settings]) => settings.entity_cache === true).map(([suffix]) => suffix);
  const cached = [...new Set([...caching.keys(), ...inFile])].filter((suffix) => caching.get(suffix) ?? true);
  if (cached.length === 0) return undefined;
  // The default URLs of a feed follow from these. Without them, a subgraph has a feed only if its feed's URLs are set.
  const addresses: Record<string, readonly string[]> = {};
  const configuredFeeds: Record<string, readonly string[]> = {};
  for (const suffix of cached) {
    const service = followedNameOf(suffix);
    const { urls: urlsOfFile = [], feed_urls: feed } = bySuffix.get(suffix) ?? {};
    addresses[service] = urls.get(suffix) ?? urlsOfFile;
    if (feed !== undefined) configuredFeeds[service] = feed === "none" ? ["none"] : feed;
  }
  const variableOf = (service: string) => `${feedPrefix}${suffixOf(service)}`;
  const feeds = readFollowedFeedsConfig(env, profile, addresses, variableOf, configuredFeeds);
  return { services: new Set(Object.keys(addresses)), bytesMax, ...feeds };
}

function readEach<Value>(
  env: EnvironmentReader,
  prefix: string,
  read: (value: string, name: string) => Value,
): ReadonlyMap<string, Value> {
  const variables = Object.entries(env.withPrefix(prefix));
  return new Map(variables.map(([name, value]) => [name.slice(prefix.length), read(value, name)]));
}

function readUrls(env: EnvironmentReader, value: string, name: string): readonly string[] {
  const urls = value.split(",").map((url) => url.trim());
  if (urls.length > subgraphUrlsMax) env.problem(`${name} lists more than ${subgraphUrlsMax} URLs`);
  if (!urls.every(isHttpUrl)) env.problem(`${name} is not an http(s) URL, or a list of them separated by commas`);
  else if (!haveSameCredentials(urls)) env.problem(`The URLs of ${name} have to have the same user and password`);
  return urls;
}

function readSwitch(env: EnvironmentReader, value: string, name: string): boolean {
  if (value !== "on" && value !== "off") env.problem(`${name} is neither on nor off`);
  return value === "on";
}
