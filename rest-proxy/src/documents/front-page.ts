import { createFrontPage, type FrontPageLink, healthLink, statusLink } from "@tributary/kit/pages/front-page";
import type { ProcessState } from "@tributary/kit/process/process-status";
import { summarizeState } from "@tributary/kit/process/status-summary";
import type { DevelopmentPages } from "./layout.ts";
import { type PageSource, revalidated } from "./pages.ts";

export interface FrontPageOptions {
  /** The version of this build. */
  readonly version: string;
  /** In development: the page then shows the state, and links to it and to the health path. */
  readonly readState?: (() => ProcessState) | undefined;
}

/** The page at `/`. Its `Link` header leads programs to the API catalog (RFC 9727, 3). @param versions those with an OpenAPI document. */
export function createRestFrontPage(
  versions: readonly number[],
  { version, readState }: FrontPageOptions,
  development: DevelopmentPages | undefined,
): PageSource {
  const newestFirst = versions.toReversed();
  const links = [referenceLink, ...newestFirst.map(toOpenApiLink), problemsLink, catalogLink];
  if (development?.changes !== undefined) links.push(changesLink);
  if (readState) links.push(healthLink, statusLink);
  if (development?.gatewayUrl !== undefined) links.push({ ...gatewayLink, path: development.gatewayUrl });
  const { json, html, policy } = createFrontPage({
    name: "REST API",
    description: "Versioned resources with caching, over the data of all services.",
    version,
    links,
    state: readState && summarizeState(readState()),
  });
  const variants = [
    { type: "application/json", text: json },
    { type: "text/html", text: html },
  ];
  const headers = ["Link", `<${catalogLink.path}>; rel="api-catalog"`];
  return { path: "/", cacheControl: revalidated, variants, policy, headers };
}

function toOpenApiLink(version: number): FrontPageLink {
  return {
    key: `openapi-v${version}`,
    path: `/openapi/v${version}.json`,
    title: `OpenAPI, version ${version}`,
    text: "The description for code generators and other tools.",
  };
}

const referenceLink: FrontPageLink = {
  key: "docs",
  path: "/docs",
  title: "Reference",
  text: "Every operation, with code samples, forms that send requests, and a page on tokens.",
};
const changesLink: FrontPageLink = {
  key: "changes",
  path: "/docs/changes",
  title: "Changes",
  text: "What the next release changes in the GraphQL and in the REST API.",
};
const gatewayLink = {
  key: "gateway",
  title: "GraphQL gateway",
  text: "The same data as a graph, with GraphiQL and the owner of every field.",
};
const problemsLink: FrontPageLink = {
  key: "problems",
  path: "/problems",
  title: "Problems",
  text: "What each error means, and what to do.",
};
const catalogLink: FrontPageLink = {
  key: "api-catalog",
  path: "/.well-known/api-catalog",
  title: "API catalog",
  text: "The links to all versions, for programs (RFC 9727).",
};
