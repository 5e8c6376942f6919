// Stage 4 of 5: run. Reads from a subgraph's response whether caches may store the response or its entities (subgraph-response.ts calls it). Collects
// this for a client request (fetch.ts): caches in front of the gateway may store the client's response only if every subgraph permits it for its
// whole response.
import { isGroupName } from "@tributary/kit/rest/caching";

/** What a cache must know of a response. */
export interface ResponseCaching {
  /** How long it is fresh, in seconds; at least 1. */
  readonly seconds: number;
  /** Cache groups (RFC 9875). */
  readonly groups: readonly string[];
}

/** What a subgraph declares about caching of its response. */
export interface SubgraphCaching {
  /** How long it is fresh, in seconds; at least 1. */
  readonly seconds: number;
  /** The cache groups of the whole response. Undefined if it must not be stored as a whole. */
  readonly groups: readonly string[] | undefined;
  /**
   * By the response name of each `_entities` field, the groups of each entity; null for an entity that must not be stored. Undefined if the subgraph
   * declares none, for example because it is not a service of this platform.
   */
  readonly entities: Readonly<Record<string, readonly (readonly string[] | null)[]>> | undefined;
  /**
   * True for a service of this platform: `seconds` holds only while its change feed reports every change. While the feed is down, a result is fresh
   * for a shorter time (`feedDownMsMax` in subgraph-cache.ts).
   */
  readonly needsFeed: boolean;
}

/** Combines the declarations of several subgraph responses: the shortest freshness, all groups. */
export interface CachingCollector {
  /** @param caching of one subgraph response; undefined, or without groups, if it must not be stored. */
  add(caching: Pick<SubgraphCaching, "seconds" | "groups"> | undefined): void;
  /** Undefined if the response must not be stored, also if nothing was fetched: introspection changes with the supergraph. */
  read(): ResponseCaching | undefined;
}

/** A response in more groups is not stored: RFC 9875, 2, guarantees no more. */
export const groupsMax = 32;

export function createCachingCollector(): CachingCollector {
  const groups = new Set<string>();
  let seconds = Infinity;
  let isForbidden = false;
  return {
    add(caching) {
      if (!caching?.groups) isForbidden = true;
      else {
        seconds = Math.min(seconds, caching.seconds);
        for (const group of caching.groups) groups.add(group);
      }
    },
    read() {
      if (isForbidden || seconds === Infinity || groups.size > groupsMax) return undefined;
      return { seconds, groups: [...groups] };
    },
  };
}

/**
 * Reads the declaration of a subgraph: `extensions.cache` of a service of this platform (kit/src/graphql/cache-metadata.ts), or a public
 * `Cache-Control` with `extensions.apolloCacheTags` of any other subgraph. Without tags, such a response can be stored too, in no cache group.
 * @returns undefined if there is no declaration: nothing of the response may be stored.
 */
export function readSubgraphCaching(
  extensions: unknown,
  cacheControl: string | undefined,
): SubgraphCaching | undefined {
  const { cache, apolloCacheTags = [] } = Object(extensions) as Readonly<Record<string, unknown>>;
  const needsFeed = cache !== undefined;
  const declared = cache ?? { seconds: readPublicSeconds(cacheControl), groups: apolloCacheTags };
  const { seconds, groups, entities } = Object(declared) as Readonly<Record<string, unknown>>;
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 1) return undefined;
  return {
    seconds,
    groups: isGroupList(groups) ? groups : undefined,
    entities: isEntityGroups(entities) ? entities : undefined,
    needsFeed,
  };
}

function isGroupList(groups: unknown): groups is readonly string[] {
  return Array.isArray(groups) && groups.every((group) => typeof group === "string" && isGroupName(group));
}

function isEntityGroups(entities: unknown): entities is NonNullable<SubgraphCaching["entities"]> {
  if (typeof entities !== "object" || entities === null) return false;
  return Object.values(entities).every(
    (list) => Array.isArray(list) && list.every((groups) => groups === null || isGroupList(groups)),
  );
}

/** Finds the first of these directives in a list that is separated by commas, with its seconds. */
const maxAgePattern = /(?:^|,)(?:s-maxage|max-age)=(\d{1,9})(?:,|$)/;

/** Responses with one of these must not be stored, or not be reused without validation (RFC 9111, 5.2.2), which the entity cache cannot do. */
const forbiddingDirectives: ReadonlySet<string> = new Set(["no-store", "no-cache", "private"]);

/** How long caches may reuse a response with this `Cache-Control`. Undefined unless it is public. */
function readPublicSeconds(cacheControl = ""): number | undefined {
  const directives = cacheControl
    .toLowerCase()
    .split(",")
    .map((directive) => directive.trim());
  if (!directives.includes("public")) return undefined;
  const isForbidden = directives.some((directive) => forbiddingDirectives.has(directive.split("=", 1)[0] ?? ""));
  if (isForbidden) return undefined;
  // `s-maxage` overrides `max-age` in shared caches (RFC 9111, 5.2.2.10): in reverse order it comes first, so the pattern finds it first.
  const reversed = directives.toSorted().reverse().join(",");
  const [, seconds] = maxAgePattern.exec(reversed) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

/** Adds the extension by which a service of this platform reports which results caches may store (kit/src/graphql/cache-metadata.ts). */
export function withCacheMetadata(body: string): string {
  return `${body.slice(0, -1)},"extensions":{"cacheMetadata":true}}`;
}
