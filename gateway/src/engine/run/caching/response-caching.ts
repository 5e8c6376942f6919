// Stage 4 of 5: run. What subgraphs declare about caching. Caches in front of the gateway may store a response only if every subgraph permits it.
import type { HeaderValues } from "../../../subgraph-settings/header-names.ts";
import { isGroupName } from "@tributary/kit/rest/caching";

export interface ResponseCaching {
  /** At least 1. */
  readonly seconds: number;
  readonly groups: readonly string[];
}

export interface SubgraphCaching {
  readonly seconds: number;
  /** After `seconds`, while the subgraph fails (RFC 5861, 4). */
  readonly staleIfErrorSeconds: number;
  /** Undefined if the whole response must not be stored. */
  readonly groups: readonly string[] | undefined;
  /** By the response name of each `_entities` field; null for an entity that must not be stored. Undefined if none are declared. */
  readonly entities: Readonly<Record<string, readonly (readonly string[] | null)[]>> | undefined;
  /** A service of this platform: `seconds` holds only while its change feed reports every change. */
  readonly needsFeed: boolean;
}

/** The shortest freshness, all groups. */
export interface CachingCollector {
  add(caching: Pick<SubgraphCaching, "seconds" | "groups"> | undefined): void;
  /** Undefined if the response must not be stored, also if nothing was fetched: introspection changes with the supergraph. */
  read(): ResponseCaching | undefined;
}

/** RFC 9875, 2, guarantees no more. */
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
 * `extensions.cache` of a service of this platform (kit/src/graphql/cache-metadata.ts), or a public `Cache-Control` with `extensions.apolloCacheTags`
 * of any other. Without tags, such a response is in no cache group.
 */
export function readSubgraphCaching(extensions: unknown, headers: HeaderValues): SubgraphCaching | undefined {
  const { cache, apolloCacheTags = [] } = Object(extensions) as Readonly<Record<string, unknown>>;
  const needsFeed = cache !== undefined;
  const declared = cache ?? { ...readPublicFreshness(headers), groups: apolloCacheTags };
  const { seconds, staleIfErrorSeconds, groups, entities } = Object(declared) as Readonly<Record<string, unknown>>;
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 1) return undefined;
  return {
    seconds,
    staleIfErrorSeconds: typeof staleIfErrorSeconds === "number" ? staleIfErrorSeconds : 0,
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

const digits = /^\d{1,9}$/;
const maxAgePattern = /(?:^|,)(?:s-maxage|max-age)=(\d{1,9})(?:,|$)/;

/** RFC 9111, 5.2.2: not stored, or not reused without validation, which the entity cache cannot do. */
const forbiddingDirectives: ReadonlySet<string> = new Set(["no-store", "no-cache", "private"]);

const staleIfErrorPattern = /(?:^|,)stale-if-error=(\d{1,9})(?:,|$)/;

/** The result was fetched without credentials. It would be another one with them, or perhaps. */
const credentialsPattern = /(?:^|,)\s*(?:authorization|cookie|\*)\s*(?:,|$)/i;

/** Undefined unless it is public. */
function readPublicFreshness(
  headers: HeaderValues,
): Pick<SubgraphCaching, "seconds" | "staleIfErrorSeconds"> | undefined {
  const valueOf = (name: string) => [headers[name] ?? ""].join();
  const [cacheControl, vary, age] = [valueOf("cache-control"), valueOf("vary"), valueOf("age")];
  if (credentialsPattern.test(vary)) return undefined;
  const directives = cacheControl
    .toLowerCase()
    .split(",")
    .map((directive) => directive.trim());
  if (!directives.includes("public")) return undefined;
  const isForbidden = directives.some((directive) => forbiddingDirectives.has(directive.split("=", 1)[0] ?? ""));
  if (isForbidden) return undefined;
  // `s-maxage` overrides `max-age` (RFC 9111, 5.2.2.10): in reverse order it comes first.
  const reversed = directives.toSorted().reverse().join(",");
  const [, seconds] = maxAgePattern.exec(reversed) ?? [];
  const [, staleIfErrorSeconds = 0] = staleIfErrorPattern.exec(reversed) ?? [];
  if (seconds === undefined) return undefined;
  const ageSeconds = digits.test(age) ? Number(age) : 0;
  return { seconds: Number(seconds) - ageSeconds, staleIfErrorSeconds: Number(staleIfErrorSeconds) };
}

/** Asks a service of this platform for `extensions.cache`. */
export function withCacheMetadata(body: string): string {
  return `${body.slice(0, -1)},"extensions":{"cacheMetadata":true}}`;
}
