import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { toProblemDocument } from "@tributary/kit/http/problem";
import type { Retirement } from "../route/retirement.ts";
import { createCatalog } from "./catalog.ts";
import { readAssets } from "./assets.ts";
import { markDeprecated } from "./deprecation.ts";
import { createPages, type Page } from "./pages.ts";
import type { OpenApi } from "./open-api.ts";
import { createProblemPages } from "./problem-pages.ts";
import { renderOverview, renderReference } from "./reference.ts";

export interface DocumentsOptions {
  /** The text of each version's OpenAPI document, by version: see `loadDocuments`. */
  readonly texts: ReadonlyMap<number, string>;
  /** Deprecated versions: their documents are marked. */
  readonly retirements: readonly Retirement[];
}

export interface DocumentRequest {
  readonly method: string;
  /** Without its query, which is ignored. */
  readonly path: string;
  readonly headers: Pick<IncomingHttpHeaders, "accept" | "accept-encoding" | "if-none-match">;
}

export interface DocumentResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Empty for a response without a body. */
  readonly bytes: Buffer;
}

export interface Documents {
  /** The response for the path of a document; undefined for any other path. Synchronous, never throws. */
  find(request: DocumentRequest): DocumentResponse | undefined;
}

/**
 * The documentation that the proxy serves: `/openapi/vN.json`, `/.well-known/api-catalog` (RFC 9727), a page for each problem, and the
 * reference for people at `/docs`. All of it is rendered once, here, and loads nothing from other hosts.
 */
export function createDocuments({ texts, retirements }: DocumentsOptions): Documents {
  const versions = [...markDeprecated(texts, retirements)].toSorted(([a], [b]) => a - b);
  const documents = new Map(versions.map(([version, text]) => [version, JSON.parse(text) as OpenApi]));
  const numbers = [...documents.keys()];
  const pages = createPages([
    ...versions.map(([version, text]) => ({
      path: `/openapi/v${version}.json`,
      variants: [{ type: "application/json", text }],
    })),
    createCatalog(numbers, new Set(retirements.map(({ version }) => version))),
    { path: "/docs", variants: [{ type: "text/html", text: renderOverview(documents).html }] },
    ...[...documents].map(([version, document]) => ({
      path: `/docs/v${version}`,
      variants: [{ type: "text/html" as const, text: renderReference(version, document, numbers).html }],
    })),
    ...readAssets(),
    ...createProblemPages(),
  ]);
  const known = new Map(pages.map((page) => [page.path, page]));

  return {
    find({ method, path, headers }) {
      const page = known.get(path);
      if (page === undefined) return undefined;
      if (method === "GET" || method === "HEAD") return page.respond(headers, method === "HEAD");
      return method === "OPTIONS" ? allowed : rejectMethod(page);
    },
  };
}

const allow = "GET, HEAD, OPTIONS";
const allowed: DocumentResponse = { status: 204, headers: ["Allow", allow], bytes: Buffer.alloc(0) };

function rejectMethod({ path }: Page): DocumentResponse {
  const error = new AppError("METHOD_NOT_ALLOWED", `This path takes ${allow}.`);
  const bytes = Buffer.from(JSON.stringify(toProblemDocument(error, { instance: path })));
  const type = ["Content-Type", "application/problem+json", "Content-Length", String(bytes.length)];
  return { status: 405, headers: ["Allow", allow, "Cache-Control", "no-store", ...type], bytes };
}
