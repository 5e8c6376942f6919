import type { RouteDeclaration } from "./routes.ts";

/** Whose an answer is: `everybody` for one body for all, `caller` for what this caller alone may see. */
export type Audience = "everybody" | "caller";

/** What is known of an answer to a GET before it is loaded. */
export interface RepresentationMetadata {
  /** A strong validator (RFC 9110, 8.8.3), with its quotes. */
  readonly etag: string;
  /** Where it is true: the answer's body has not changed since. */
  readonly lastModified?: Date;
  readonly audience: Audience;
  /** What changes with it; a write that names one of them ends all copies in it (RFC 9875). */
  readonly groups: readonly string[];
}

/**
 * Whether the caller can change the answer of a request with these query parameters. Known before anything can be refused, so that
 * problems and 304s say it too.
 */
export function dependsOnCaller(route: RouteDeclaration, queryNames: ReadonlySet<string>): boolean {
  return route.cache === "private" || (route.privateWith ?? []).some((name) => queryNames.has(name));
}

/**
 * What an answer that is no problem says about being kept: `Cache-Control` (RFC 9111, 5.2.2), the shared caches' own policy (RFC 9213)
 * and the groups it belongs to. Without a freshness, copies are asked about each time.
 */
export function toCachingHeaders(
  route: RouteDeclaration,
  isCallers: boolean,
  shows: RepresentationMetadata | undefined,
): Readonly<Record<string, string>> {
  if (route.cache === "none") return { "Cache-Control": "no-store" };
  const groups = toGroupsHeader(shows?.groups ?? []);
  if (audienceOf(route, isCallers, shows) === "caller") {
    return { Vary: "Authorization", "Cache-Control": "private, no-cache", ...groups };
  }
  return { ...toSharedPolicy(route), ...groups };
}

function toGroupsHeader(groups: readonly string[]): Readonly<Record<string, string>> {
  return groups.length > 0 ? { "Cache-Groups": writeGroups(groups) } : {};
}

/** A parameter that makes a public route's answer the caller's does so whatever is found. */
function audienceOf(route: RouteDeclaration, isCallers: boolean, shows: RepresentationMetadata | undefined): Audience {
  if (isCallers && route.cache === "public") return "caller";
  return shows?.audience ?? (isCallers ? "caller" : "everybody");
}

/**
 * `s-maxage` forbids a cache to use what is stale (RFC 9111, 5.2.2.10), so that caches which know the targeted field are given the whole
 * policy there: it replaces `Cache-Control` for them (RFC 9213, 2.2).
 */
function toSharedPolicy({ freshness }: RouteDeclaration): Readonly<Record<string, string>> {
  if (freshness === undefined) return { "Cache-Control": "no-cache" };
  const { browserSeconds, sharedSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = freshness;
  const stale = `stale-while-revalidate=${staleWhileRevalidateSeconds}, stale-if-error=${staleIfErrorSeconds}`;
  return {
    "Cache-Control": `public, max-age=${browserSeconds}, s-maxage=${sharedSeconds}, ${stale}`,
    "CDN-Cache-Control": `public, max-age=${sharedSeconds}, ${stale}`,
  };
}

/**
 * A list of strings (RFC 9651, 3.1) for `Cache-Groups` and `Cache-Group-Invalidation`: at most 32 names of 1 to 32 characters, which
 * every cache has to bear (RFC 9875, 2 and 3).
 */
export function writeGroups(groups: readonly string[]): string {
  const unfit = groups.find((group) => !/^[ !\x23-\x5b\x5d-\x7e]{1,32}$/.test(group));
  if (unfit !== undefined || groups.length > 32) throw new Error(`no groups of a cache: ${groups.join(" ")}`);
  return groups.map((group) => `"${group}"`).join(", ");
}
