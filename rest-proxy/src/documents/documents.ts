import { readFileSync } from "node:fs";
import type { Retirement } from "../route/retirement.ts";
import { createCatalog } from "./catalog.ts";
import { renderChangesPage } from "./changes-page.ts";
import { readVersionDocuments, type VersionDocument } from "./deprecation.ts";
import { createRestFrontPage, type FrontPageOptions } from "./front-page.ts";
import type { DevelopmentPages } from "./layout.ts";
import { createPages, type Page, type PageSource, revalidated } from "./pages.ts";
import { createProblemPages } from "./problem-pages.ts";
import { type RenderedPage, renderOverview, renderVersion } from "./reference.ts";
import { createSearchIndex } from "./search-index.ts";
import { renderTokenPage } from "./token-page.ts";
import { createVersionIndex } from "./version-index.ts";

export interface DocumentsOptions {
  /** The text of each version's OpenAPI document, by version, from `loadDocuments`. */
  readonly texts: ReadonlyMap<number, string>;
  /** Deprecated versions: their documents are marked as such, also those that have only a sunset. */
  readonly retirements: readonly Retirement[];
  readonly frontPage: FrontPageOptions;
  /** The local token issuer, to which the pages may send requests; undefined in production. */
  readonly issuerUrl?: string | undefined;
  readonly development?: DevelopmentPages | undefined;
}

export interface Documents {
  /** @param path without its query, which is ignored. @returns undefined for a path that is not of the documentation. */
  find(path: string): Page | undefined;
}

/**
 * The documentation that the proxy serves: the front page `/`, the index `/vN` of each version, `/openapi/vN.json`, `/.well-known/api-catalog` (RFC 9727), a page for each
 * problem, and the reference for people at `/docs`. `stages.ts` calls this once, at the start: it renders and compresses all pages. The
 * pages load nothing from other hosts.
 * @throws ConfigError for a document that is not of OpenAPI 3, or refers to what does not exist.
 */
export function createDocuments(options: DocumentsOptions): Documents {
  const { texts, retirements, frontPage, issuerUrl, development } = options;
  const documents = readVersionDocuments(texts, retirements);
  const versions = documents.map(({ version }) => version);
  const deprecatedVersions = new Set(retirements.map(({ version }) => version));
  const site = { versions: documents, issuerUrl, development };
  const changes = development?.changes;
  const htmlPages: readonly RenderedPage[] = [
    ["/docs", renderOverview(site)],
    ["/docs/tokens", renderTokenPage(site)],
    ...(changes === undefined ? [] : [["/docs/changes", renderChangesPage(site, changes)] as const]),
    ...documents.flatMap((document) => renderVersion(document, site)),
  ];
  const sources = [
    ...documents.map((document) => createVersionIndex(document, versions, retirements, frontPage)),
    ...documents.map(openApiPage),
    createCatalog(versions, deprecatedVersions),
    ...htmlPages.map(htmlPage),
    searchIndexPage(documents),
    ...readAssets(),
    ...createProblemPages(site),
  ];
  const pages = createPages(sources, issuerUrl);
  const pagesByPath = new Map(pages.map((page) => [page.path, page]));
  const createFront = () => createPages([createRestFrontPage(versions, frontPage, development)], issuerUrl)[0];
  const front = createFront();
  // In development its state changes.
  const findFront = () => (frontPage.readState ? createFront() : front);
  return { find: (path) => (path === "/" ? findFront() : pagesByPath.get(path)) };
}

function openApiPage({ version, text }: VersionDocument): PageSource {
  return { path: `/openapi/v${version}.json`, variants: [{ type: "application/json", text }] };
}

function searchIndexPage(documents: readonly VersionDocument[]): PageSource {
  const variants = [{ type: "application/json", text: createSearchIndex(documents) }];
  return { path: "/docs/search.json", cacheControl: revalidated, variants };
}

function htmlPage([path, { html }]: RenderedPage): PageSource {
  return { path, cacheControl: revalidated, variants: [{ type: "text/html", text: html }] };
}

/** The style sheet and the scripts of the pages, from the folder `browser/`. */
function readAssets(): readonly PageSource[] {
  const scriptNames = ["docs.js", "callers.js", "receipts.js", "search.js", "storage.js", "try-it.js"];
  return [readAsset("docs.css", "text/css"), ...scriptNames.map((name) => readAsset(name, "text/javascript"))];
}

function readAsset(name: string, type: string): PageSource {
  const text = readFileSync(new URL(`browser/${name}`, import.meta.url), "utf8");
  return { path: `/docs/${name}`, cacheControl: revalidated, variants: [{ type, text }] };
}
