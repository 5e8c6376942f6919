// The caching headers of a service's REST responses. `rest-endpoint.ts` writes them, from the route and the handler's metadata.
import type { RouteDeclaration } from "./routes.ts";

/** `everyone`: the body is the same for all callers. `caller`: it contains what only this caller may see. */
export type Audience = "everyone" | "caller";

/** The metadata of a resource's representation: the validators, and who may cache it. A 304 needs only this, and not the body. */
export interface RepresentationMetadata {
  /** A strong validator (RFC 9110, 8.8.3), with its quotes. */
  readonly etag: string;
  /** Undefined unless it is certain that nothing in the body has changed since. */
  readonly lastModified?: Date;
  readonly audience: Audience;
  /** Cache groups (RFC 9875). A write that names one of them invalidates all cached responses in it. */
  readonly groups: readonly string[];
}

/**
 * Whether a response of the route to a query with these parameters can differ by caller and may be cached. It is computed before the request
 * can be rejected: if it is true, `rest-endpoint.ts` adds `Vary: Authorization` to every response, also to problem documents and 304s. If it is false,
 * a single response can still be for its caller only (`RepresentationMetadata.audience`).
 */
export function doesVaryByCaller(route: RouteDeclaration, queryNames: ReadonlySet<string>): boolean {
  return route.cache === "private" || (route.privateWith ?? []).some((name) => queryNames.has(name));
}

/**
 * The caching headers of a successful response or a 304: `Cache-Control` (RFC 9111, 5.2.2), the policy for shared caches (RFC 9213) and the
 * cache groups. Only responses that are the same for everyone are fresh for a time, if the route has a `freshness`; caches must revalidate any
 * other at each use.
 * @param variesByCaller from `doesVaryByCaller`.
 */
export function toCachingHeaders(
  route: RouteDeclaration,
  variesByCaller: boolean,
  metadata: RepresentationMetadata | undefined,
): Readonly<Record<string, string>> {
  if (route.cache === "none") return { "Cache-Control": "no-store" };
  const groupsHeader = toGroupsHeader(metadata?.groups ?? []);
  if (audienceOf(route, variesByCaller, metadata) === "caller") {
    return { Vary: "Authorization", "Cache-Control": "private, no-cache", ...groupsHeader };
  }
  return { ...toSharedPolicy(route), ...groupsHeader };
}

function toGroupsHeader(groups: readonly string[]): Readonly<Record<string, string>> {
  return groups.length > 0 ? { "Cache-Groups": writeGroups(groups) } : {};
}

/**
 * On a private route the handler's metadata decides for each response: a row that everyone may see is cached for everyone. On a public route a
 * `privateWith` parameter decides, whatever rows the response contains.
 */
function audienceOf(
  route: RouteDeclaration,
  variesByCaller: boolean,
  metadata: RepresentationMetadata | undefined,
): Audience {
  const hasPrivateParameter = variesByCaller && route.cache === "public";
  if (hasPrivateParameter) return "caller";
  if (metadata !== undefined) return metadata.audience;
  return variesByCaller ? "caller" : "everyone";
}

/**
 * `s-maxage` forbids a cache to serve stale responses (RFC 9111, 5.2.2.10). Caches that support `CDN-Cache-Control` get a policy without
 * it, which replaces `Cache-Control` for them (RFC 9213, 2.2).
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

/** Groups of one header: the minimum that every cache supports (RFC 9875, 2 and 3). */
const groupsMax = 32;
/** 1 to 32 characters, without `"` and `\`. */
const groupNamePattern = /^[ !\x23-\x5b\x5d-\x7e]{1,32}$/;

/**
 * Writes `Cache-Groups` and `Cache-Group-Invalidation` as a list of strings (RFC 9651, 3.1).
 * @throws Error if there are more than 32 names, or if one is not a group name.
 */
export function writeGroups(groups: readonly string[]): string {
  const isValid = groups.length <= groupsMax && groups.every((group) => isGroupName(group));
  if (!isValid) throw new Error(`invalid cache groups: ${groups.join(" ")}`);
  return groups.map((group) => `"${group}"`).join(", ");
}

/** Whether every cache supports the name: 1 to 32 characters (RFC 9875, 2) that a string needs no escape for. */
export function isGroupName(name: string): boolean {
  return groupNamePattern.test(name);
}
