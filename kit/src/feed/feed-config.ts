import { isHttpUrl } from "../http/http-url.ts";
import type { EnvironmentReader, Profile } from "../process/env.ts";
import { keyCharsMin, readKeys } from "../process/secret-keys.ts";
import { portOf } from "../upstream/addresses.ts";

/** Where a service serves its feed. */
export interface ServedFeedConfig {
  readonly feedPort: number;
  readonly feedKeys: readonly string[];
}

export interface FollowedFeedsConfig {
  /** Scheme, host and port of each replica; no entry for a service without a feed. */
  readonly feedUrls: Readonly<Record<string, readonly string[]>>;
  readonly feedKey: string;
}

/** From the port of the service to that of its feed. */
const portOffset = 100;

export function feedPortOf(port: number): number {
  return port + portOffset;
}

/** @param port of the service; 0: the feed listens at any free port too. */
export function readServedFeedConfig(
  env: EnvironmentReader,
  profile: Profile,
  { port }: { readonly port: number },
): ServedFeedConfig {
  return {
    feedPort: env.integer("FEED_PORT", {
      fallback: port === 0 ? 0 : feedPortOf(port),
      min: 0,
      max: 65_535,
      why: `the port of the change feed for gateways and REST proxies, for the internal network only; by default PORT + ${portOffset}; 0 takes any free one`,
    }),
    feedKeys: readFeedKeys(env, profile, "any of them opens the change feed; several allow a change of the key"),
  };
}

/** @param configured the feeds of services whose variable is not set; by default derived from `addresses`. */
export function readFollowedFeedsConfig(
  env: EnvironmentReader,
  profile: Profile,
  addresses: Readonly<Record<string, readonly string[]>>,
  variableOf: (service: string) => string,
  configured: Readonly<Record<string, readonly string[]>> = {},
): FollowedFeedsConfig {
  const feedUrls: Record<string, readonly string[]> = {};
  for (const [service, urls] of Object.entries(addresses)) {
    const name = variableOf(service);
    const urlsOfFeed = env.list(name, {
      fallback: configured[service] ?? urls.flatMap(toFeedUrl),
      why: `the change feed of the ${service} service: scheme, host and port of each replica; by default ${portOffset} above the port of the service; none: it has no feed, and cached responses follow no writes of others`,
    });
    const isNone = urlsOfFeed.length === 1 && urlsOfFeed[0] === "none";
    if (isNone) continue;
    if (!urlsOfFeed.every(isHttpUrl)) {
      env.problem(`${name} has to be http(s) addresses of scheme, host and port, separated by commas, or none`);
    }
    if (urlsOfFeed.length > 0) feedUrls[service] = urlsOfFeed;
  }
  // Of services that have no feed no process needs the key.
  const followsNone = Object.keys(addresses).length > 0 && Object.keys(feedUrls).length === 0;
  const keyProfile = followsNone ? "development" : profile;
  const [feedKey = ""] = readFeedKeys(env, keyProfile, "the first one opens the change feeds of the services");
  return { feedUrls, feedKey };
}

/** Empty for an invalid URL, which the reader of the service's own URLs reports. */
function toFeedUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  url.port = String(feedPortOf(portOf(url)));
  return [url.origin];
}

function readFeedKeys(env: EnvironmentReader, profile: Profile, why: string): readonly string[] {
  const rule = `each at least ${keyCharsMin} characters, the same in every process; required in production`;
  return readKeys(env, "FEED_KEYS", profile, `${why}; ${rule}`);
}
