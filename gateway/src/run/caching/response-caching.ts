// Stage 4 of 5: run. What subgraphs say of their responses: which of them, or which of their entities, caches may store. And whether caches may store the
// response to one client request: only if every subgraph said so of its whole response.
import { isGroupName } from "@tributary/kit/rest/caching";

/** What a cache must know of a response. */
export interface ResponseCaching {
  /** How long it is fresh, in seconds; at least 1. */
  readonly seconds: number;
  /** Cache groups (RFC 9875). */
  readonly groups: readonly string[];
}

/** What a subgraph says of its response. */
export interface SubgraphCaching {
  /** How long it is fresh, in seconds; at least 1. */
  readonly seconds: number;
  /** The cache groups of the whole response. Undefined if it must not be stored as a whole. */
  readonly groups: readonly string[] | undefined;
  /** By the response name of each `_entities` field, the groups of each entity; null for an entity that must not be stored. Undefined for a foreign subgraph. */
  readonly entities: Readonly<Record<string, readonly (readonly string[] | null)[]>> | undefined;
  /** Whether the freshness is that of a service with a change feed: without its feed, nothing is fresh for so long. */
  readonly needsFeed: boolean;
}

/** Collects it from the responses of the subgraphs. */
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
 * Reads what a subgraph says of its response: `extensions.cache` of a service of this platform (kit/src/graphql/cache-metadata.ts); or, of any other
 * subgraph, a public `Cache-Control` with `extensions.apolloCacheTags`. Silence means that the response must not be stored.
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

function readPublicSeconds(cacheControl = ""): number | undefined {
  const directives = cacheControl
    .toLowerCase()
    .split(",")
    .map((directive) => directive.trim());
  if (!directives.includes("public")) return undefined;
  const [, seconds] =
    /(?:^|,)(?:s-maxage|max-age)=(\d{1,9})(?:,|$)/.exec(directives.toSorted().reverse().join(",")) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
