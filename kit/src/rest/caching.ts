import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";
import type { RouteDeclaration } from "./routes.ts";

/** `everyone`: the body is the same for all callers. `caller`: it contains what only this caller may see. */
export type Audience = "everyone" | "caller";

/** The validators of a response, and who may cache it. A 304 needs only this, and not the body. */
export interface RepresentationMetadata {
  /** A strong validator (RFC 9110, 8.8.3), with its quotes. */
  readonly etag: string;
  /** Undefined unless it is certain that nothing in the body has changed since. */
  readonly lastModified?: Date;
  readonly audience: Audience;
  readonly groups: readonly string[];
}

/**
 * Whether a response to a query with these parameters can differ by caller and may be cached: then every response of the route, also a
 * problem document, has `Vary: Authorization`.
 */
export function doesVaryByCaller(route: RouteDeclaration, queryNames: ReadonlySet<string>): boolean {
  return route.cache === "private" || (route.privateWith ?? []).some((name) => queryNames.has(name));
}

/** Only responses that are the same for everyone are fresh for a time (RFC 9111, 5.2.2; RFC 9213). */
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

/** On a private route the handler decides for each response, on a public one a `privateWith` parameter. */
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
 * Only the REST proxy, which follows the groups, may use a stale response: it has a policy of its own. In `Cache-Control`, `stale-while-revalidate` would
 * count for browsers, which then do not wait for the revalidation; a CDN obeys it in `CDN-Cache-Control` (RFC 9213, 2.2).
 */
function toSharedPolicy({ freshness }: RouteDeclaration): Readonly<Record<string, string>> {
  if (freshness === undefined) return { "Cache-Control": "no-cache" };
  const { browserSeconds, sharedSeconds, staleWhileRevalidateSeconds, staleIfErrorSeconds } = freshness;
  const stale = `stale-while-revalidate=${staleWhileRevalidateSeconds}, stale-if-error=${staleIfErrorSeconds}`;
  return {
    "Cache-Control": `public, max-age=${browserSeconds}, s-maxage=${sharedSeconds}`,
    "CDN-Cache-Control": `public, max-age=${sharedSeconds}`,
    [proxyPolicyHeader]: `public, max-age=${sharedSeconds}, ${stale}`,
  };
}

/** A policy for the REST proxy alone, in the form of `CDN-Cache-Control`, instead of which it counts there (RFC 9213, 2). The proxy removes it. */
export const proxyPolicyHeader = "Tributary-Cache-Control";

/** A 404 or 410 that is the same for all clients without a token, until a change of the groups. */
export class SharedMissingError extends AppError {
  readonly groups: readonly string[];

  constructor({ code, message }: AppError, groups: readonly string[]) {
    super(code, message);
    // Throws for an invalid name here, in the handler: when the response is written, nothing would catch it, and the process would end.
    writeGroups(groups);
    this.groups = groups;
  }
}

const missingSeconds = 1;

/** For a `SharedMissingError`: it is `no-store` for all caches but the REST proxy's, which follows the groups. */
export function toMissingHeaders(groups: readonly string[]): Readonly<Record<string, string>> {
  const policy = `public, max-age=${missingSeconds}`;
  return { Vary: "Authorization", [proxyPolicyHeader]: policy, ...toGroupsHeader(groups) };
}

/** The minimum that every cache supports (RFC 9875, 2 and 3). */
const groupsMax = 32;
const groupCharsMax = 32;
const groupNamePattern = /^[ !\x23-\x5b\x5d-\x7e]{1,32}$/;

/** A list of strings (RFC 9651, 3.1). @throws Error for more than 32 names, or one that is not a group name. */
export function writeGroups(groups: readonly string[]): string {
  const isValid = groups.length <= groupsMax && groups.every((group) => isGroupName(group));
  if (!isValid) throw new Error(`invalid cache groups: ${groups.join(" ")}`);
  return groups.map((group) => `"${group}"`).join(", ");
}

/** The id is hashed if the name were too long: an id that a client sends can have 19 digits. A collision would only invalidate one response too many. */
export function nameGroup(prefix: string, id: string): string {
  const name = `${prefix}${id}`;
  if (name.length <= groupCharsMax) return name;
  return `${prefix}${createHash("sha256").update(id).digest("hex")}`.slice(0, groupCharsMax);
}

export function isGroupName(name: string): boolean {
  return groupNamePattern.test(name);
}
