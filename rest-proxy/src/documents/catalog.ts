import { findSuccessor } from "./deprecation.ts";
import type { PageSource } from "./pages.ts";

const path = "/.well-known/api-catalog";
/** The profile identifies a catalog among link sets (RFC 9727; RFC 9264, 5). */
const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * The API catalog for programs (RFC 9727, as a link set of RFC 9264): each version with its description for programs (RFC 8631,
 * `service-desc`) and for people (`service-doc`); a deprecated version also with its successor. Every response has `Link`, which RFC 9727, 2 requires
 * for `HEAD`.
 */
export function createCatalog(versions: readonly number[], deprecated: ReadonlySet<number>): PageSource {
  const linkset = [
    { anchor: path, item: versions.map((version) => ({ href: `/v${version}`, title: `Version ${version}` })) },
    ...versions.map((version) => ({
      anchor: `/v${version}`,
      "service-desc": [{ href: `/openapi/v${version}.json`, type: "application/json" }],
      "service-doc": [{ href: `/docs/v${version}`, type: "text/html" }],
      ...(deprecated.has(version) ? deprecationLinks(version, versions) : {}),
    })),
  ];
  const items = versions.map((version) => `</v${version}>; rel="item"`);
  return {
    path,
    variants: [{ type, text: `${JSON.stringify({ linkset }, undefined, 2)}\n` }],
    headers: ["Link", [`<${path}>; rel="api-catalog"`, ...items].join(", ")],
  };
}

/** `deprecation`: the page with the dates (RFC 9745, 3). `successor-version`: RFC 5829, 3.3. */
function deprecationLinks(version: number, versions: readonly number[]): object {
  const successor = findSuccessor(version, versions);
  return {
    deprecation: [{ href: `/docs/v${version}`, type: "text/html" }],
    ...(successor === undefined ? {} : { "successor-version": [{ href: `/v${successor}` }] }),
  };
}
