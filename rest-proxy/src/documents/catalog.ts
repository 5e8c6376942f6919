import { findSuccessor } from "./deprecation.ts";
import type { PageSource } from "./pages.ts";

const catalogPath = "/.well-known/api-catalog";
/** The profile identifies a catalog among link sets (RFC 9727; RFC 9264, 5). */
const catalogType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * The API catalog for programs (RFC 9727, as a link set of RFC 9264): each version with its description for programs (RFC 8631,
 * `service-desc`) and for people (`service-doc`); a deprecated version also with its successor. Every response has `Link`, which RFC 9727,
 * 2 requires for `HEAD`.
 */
export function createCatalog(versions: readonly number[], deprecated: ReadonlySet<number>): PageSource {
  const items = versions.map((version) => ({ href: `/v${version}`, title: `Version ${version}` }));
  const versionLinks = versions.map((version) => {
    const links = {
      anchor: `/v${version}`,
      "service-desc": [{ href: `/openapi/v${version}.json`, type: "application/json" }],
      "service-doc": [{ href: `/docs/v${version}`, type: "text/html" }],
    };
    return deprecated.has(version) ? { ...links, ...deprecationLinks(version, versions) } : links;
  });
  const linkset = [{ anchor: catalogPath, item: items }, ...versionLinks];
  const itemHeaders = versions.map((version) => `</v${version}>; rel="item"`);
  return {
    path: catalogPath,
    variants: [{ type: catalogType, text: `${JSON.stringify({ linkset }, undefined, 2)}\n` }],
    headers: ["Link", [`<${catalogPath}>; rel="api-catalog"`, ...itemHeaders].join(", ")],
  };
}

/** `deprecation`: the page with the dates (RFC 9745, 3). `successor-version`: RFC 5829, 3.3. */
function deprecationLinks(version: number, versions: readonly number[]): object {
  const deprecation = [{ href: `/docs/v${version}`, type: "text/html" }];
  const successor = findSuccessor(version, versions);
  if (successor === undefined) return { deprecation };
  return { deprecation, "successor-version": [{ href: `/v${successor}` }] };
}
