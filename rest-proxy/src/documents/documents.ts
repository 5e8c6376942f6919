import { toProblemDocument } from "@tributary/kit/http/problem";
import type { Retirement } from "../route/retirement.ts";
import { methodNotAllowed } from "../route/route-table.ts";
import { readAssets } from "./assets.ts";
import { createCatalog } from "./catalog.ts";
import { readVersionDocuments } from "./deprecation.ts";
import { createRestFrontPage, type FrontPageOptions } from "./front-page.ts";
import type { Html } from "@tributary/kit/pages/html";
import { createPages, type NegotiationHeaders, type PageResponse, type PageSource, revalidated } from "./pages.ts";
import { createProblemPages } from "./problem-pages.ts";
import { renderOverview, renderReference } from "./reference.ts";
import { createSearchIndex } from "./search-index.ts";
import { renderTokenPage } from "./token-page.ts";

export interface DocumentsOptions {
  /** The text of each version's OpenAPI document, by version, from `loadDocuments`. */
  readonly texts: ReadonlyMap<number, string>;
  /** Deprecated versions: their documents are marked as such. */
  readonly retirements: readonly Retirement[];
  readonly frontPage: FrontPageOptions;
}

/** One path of the documentation. */
export interface ServedDocument {
  /** Its methods, for `Allow`. */
  readonly allow: string;
  /** The response to any method but `OPTIONS`, which needs no document: 200, 304, or 405 as a problem document. */
  respond(method: string, headers: NegotiationHeaders): PageResponse;
}

export interface Documents {
  /** @param path without its query, which is ignored. @returns undefined for a path that is not of the documentation. */
  find(path: string): ServedDocument | undefined;
}

/**
 * The documentation that the proxy serves: the front page `/`, `/openapi/vN.json`, `/.well-known/api-catalog` (RFC 9727), a page for each problem,
 * and the reference for people at `/docs`. `stages.ts` calls this once, at the start: it renders and compresses all pages. The pages load nothing
 * from other hosts.
 * @throws Error for an OpenAPI document that is not JSON or refers to a component that does not exist.
 */
export function createDocuments({ texts, retirements, frontPage }: DocumentsOptions): Documents {
  const versions = readVersionDocuments(texts, retirements);
  const pages = createPages([
    createRestFrontPage(
      versions.map(({ version }) => version),
      frontPage,
    ),
    ...versions.map(({ version, text }) => ({
      path: `/openapi/v${version}.json`,
      variants: [{ type: "application/json", text }],
    })),
    createCatalog(
      versions.map(({ version }) => version),
      new Set(retirements.map(({ version }) => version)),
    ),
    htmlPage("/docs", renderOverview(versions)),
    htmlPage("/docs/tokens", renderTokenPage(versions)),
    ...versions.map((reference) => htmlPage(`/docs/v${reference.version}`, renderReference(reference, versions))),
    {
      path: "/docs/search.json",
      cacheControl: revalidated,
      variants: [{ type: "application/json", text: createSearchIndex(versions) }],
    },
    ...readAssets(),
    ...createProblemPages(versions),
  ]);
  const documentsByPath = new Map(
    pages.map(({ path, respond }): [string, ServedDocument] => [
      path,
      {
        allow,
        respond(method, headers) {
          if (method === "GET" || method === "HEAD") return respond(headers, method === "HEAD");
          return rejectMethod(path);
        },
      },
    ]),
  );
  return { find: (path) => documentsByPath.get(path) };
}

function htmlPage(path: string, { html }: Html): PageSource {
  return { path, cacheControl: revalidated, variants: [{ type: "text/html", text: html }] };
}

const allow = "GET, HEAD, OPTIONS";

function rejectMethod(path: string): PageResponse {
  const bytes = Buffer.from(JSON.stringify(toProblemDocument(methodNotAllowed(allow), { instance: path })));
  const type = ["Content-Type", "application/problem+json", "Content-Length", String(bytes.length)];
  return { status: 405, headers: ["Allow", allow, "Cache-Control", "no-store", ...type], bytes };
}
