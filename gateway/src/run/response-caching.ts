// Stage 4 of 5: run. Whether caches may store the response to one client request: only if every subgraph said so of its response.
import { isGroupName } from "@tributary/kit/rest/caching";

/** What a cache must know of a response. */
export interface ResponseCaching {
  /** How long it is fresh, in seconds; at least 1. */
  readonly seconds: number;
  /** Cache groups (RFC 9875). */
  readonly groups: readonly string[];
}

/** Collects it from the responses of the subgraphs. */
export interface CachingCollector {
  /** @param caching of one subgraph response; undefined if it must not be stored. */
  add(caching: ResponseCaching | undefined): void;
  /** Undefined if the response must not be stored, also if nothing was fetched: introspection changes with the supergraph. */
  read(): ResponseCaching | undefined;
}

/** A response in more groups is not stored: RFC 9875, 2, guarantees no more. */
const groupsMax = 32;

export function createCachingCollector(): CachingCollector {
  const groups = new Set<string>();
  let seconds = Infinity;
  let isForbidden = false;
  return {
    add(caching) {
      if (!caching) isForbidden = true;
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
 * Reads what a subgraph says of its response: `extensions.cache` of a service of this platform; or, of any other subgraph, a public `Cache-Control` with
 * `extensions.apolloCacheTags`. Silence means that the response must not be stored.
 */
export function readResponseCaching(
  extensions: unknown,
  cacheControl: string | undefined,
): ResponseCaching | undefined {
  const { cache, apolloCacheTags = [] } = Object(extensions) as Readonly<Record<string, unknown>>;
  const declared = cache ?? { seconds: readPublicSeconds(cacheControl), groups: apolloCacheTags };
  const { seconds, groups } = Object(declared) as Readonly<Record<keyof ResponseCaching, unknown>>;
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 1) return undefined;
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === "string" && isGroupName(group)))
    return undefined;
  return { seconds, groups: groups as string[] };
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
