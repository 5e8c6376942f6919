import { createFrontPage, type FrontPageLink } from "@tributary/kit/pages/front-page";
import { listRetirementHeaders, type Retirement, successorLink } from "../route/retirement.ts";
import { findSuccessor, type VersionDocument } from "./deprecation.ts";
import type { FrontPageOptions } from "./front-page.ts";
import { detailsOf } from "./open-api/open-api.ts";
import { type PageSource, revalidated } from "./pages.ts";

/** `/v2`, the version's address in the API catalog: links to its resources without a parameter and to its documents. */
export function createVersionIndex(
  { version, document }: VersionDocument,
  versions: readonly number[],
  retirements: readonly Retirement[],
  { version: build }: FrontPageOptions,
): PageSource {
  const { json, html, policy } = createFrontPage({
    name: `REST API, version ${version}`,
    description: "The resources of this version, and its documents.",
    version: build,
    links: [...listResourceLinks(version, document), ...listDocumentLinks(version)],
  });
  const variants = [
    { type: "application/json", text: json },
    { type: "text/html", text: html },
  ];
  const documentLinks = `</openapi/v${version}.json>; rel="service-desc", </docs/v${version}>; rel="service-doc"`;
  const headers = ["API-Version", String(version), "Link", documentLinks];
  const retirement = retirements.find((candidate) => candidate.version === version);
  if (retirement !== undefined) {
    headers.push(...listRetirementHeaders(retirement, true));
    const successor = findSuccessor(version, versions);
    if (successor !== undefined) headers.push("Link", successorLink(`/v${successor}`));
  }
  return { path: `/v${version}`, cacheControl: revalidated, variants, policy, headers };
}

function listResourceLinks(version: number, { paths }: VersionDocument["document"]): readonly FrontPageLink[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined || path.includes("{")) return [];
    return [{ key: path.slice(1), path: `/v${version}${path}`, title: get.summary, text: detailsOf(get) ?? "" }];
  });
}

function listDocumentLinks(version: number): readonly FrontPageLink[] {
  return [
    {
      key: "docs",
      path: `/docs/v${version}`,
      title: "Reference",
      text: "Every operation, with code samples, and forms that send requests.",
    },
    {
      key: "openapi",
      path: `/openapi/v${version}.json`,
      title: "OpenAPI",
      text: "The description for code generators and other tools.",
    },
  ];
}
