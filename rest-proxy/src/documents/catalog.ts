import type { PageSource } from "./pages.ts";

const path = "/.well-known/api-catalog";
/** With the profile by which programs know a catalogue among link sets (RFC 9727; RFC 9264, 5). */
const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * Where everything is, for programs (RFC 9727, as a link set of RFC 9264): each version with its description for programs (RFC 8631,
 * `service-desc`) and for people (`service-doc`). A `HEAD` hears of it in `Link` (RFC 9727, 2).
 */
export function createCatalog(versions: readonly number[]): PageSource {
  const linkset = [
    { anchor: path, item: versions.map((version) => ({ href: `/v${version}`, title: `Version ${version}` })) },
    ...versions.map((version) => ({
      anchor: `/v${version}`,
      "service-desc": [{ href: `/openapi/v${version}.json`, type: "application/json" }],
      "service-doc": [{ href: `/docs/v${version}`, type: "text/html" }],
    })),
  ];
  const items = versions.map((version) => `</v${version}>; rel="item"`);
  return {
    path,
    variants: [{ type, text: `${JSON.stringify({ linkset }, undefined, 2)}\n` }],
    headers: ["Link", [`<${path}>; rel="api-catalog"`, ...items].join(", ")],
  };
}
