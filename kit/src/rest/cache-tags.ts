// Cache groups as tags for CDNs, which do not read `Cache-Groups` (RFC 9875).
import type { EnvironmentReader } from "../process/env.ts";

/** Fastly and Varnish read `Surrogate-Key`, Cloudflare reads `Cache-Tag`. */
export type TagHeader = "Surrogate-Key" | "Cache-Tag";

export function readTagHeader(env: EnvironmentReader): TagHeader | undefined {
  const name = env.choice("CDN_TAG_HEADER", {
    fallback: "none",
    of: ["none", "Surrogate-Key", "Cache-Tag"],
    why: "the header by which a CDN learns the cache groups of a response and their services, besides Cache-Groups",
  });
  return name === "none" ? undefined : name;
}

export function writeTags(header: TagHeader, groups: readonly string[]): string {
  const serviceTags = new Set(groups.map((group) => tagOfService(serviceOf(group))));
  const separator = header === "Cache-Tag" ? "," : " ";
  return [...groups, ...serviceTags].join(separator);
}

/** The tag of all responses with data of the service. */
export function tagOfService(service: string): string {
  return `service:${service}`;
}

/** The name of a group begins with that of its service: `posts:7`. */
function serviceOf(group: string): string {
  return group.split(":", 1)[0] ?? "";
}
