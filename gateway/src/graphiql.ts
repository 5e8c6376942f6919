import { readFileSync } from "node:fs";
import { join } from "node:path";
import express, { type Response, type Router } from "express";
import type { Config } from "./config.ts";

export interface Graphiql {
  /** `/graphiql/*`: the files and the configuration of the page. */
  readonly router: Router;
  /** Sends the page, after the caller has set the headers that all responses have. @returns false, with nothing sent, if the bundle is not built. */
  sendPage(response: Response): boolean;
  readonly isBuilt: boolean;
}

const yearMs = 31_536_000_000;
const headTag = /<head>/i;

/**
 * GraphiQL, served by server.ts from the built bundle (`npm run bundle:graphiql`). The page is read once, here; its Content-Security-Policy
 * forbids resources of other origins, except requests to the token issuer. In development its configuration has what else it links to.
 */
export function createGraphiql(
  folder: string,
  {
    profile,
    issuerUrl,
    restProxyUrl,
    traceUrlTemplate,
    responseTimeoutMs,
  }: Pick<Config, "profile" | "issuerUrl" | "restProxyUrl" | "traceUrlTemplate" | "responseTimeoutMs">,
): Graphiql {
  const development = profile === "development" ? { restProxyUrl, traceUrlTemplate } : undefined;
  const page = readPage(folder);
  const policy = createPolicy(issuerUrl);

  function sendPage(response: Response): boolean {
    if (page === undefined) return false;
    response.set({
      "Content-Security-Policy": policy,
      "Cache-Control": "no-cache",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
    });
    response.type("html").send(page);
    return true;
  }

  const router = express.Router();
  router.use((_request, response, next) => {
    // Closes the connection of a client that reads nothing of a file for so long.
    response.setTimeout(responseTimeoutMs);
    next();
  });
  router.get("/config.json", (_request, response) => {
    response.set("Cache-Control", "no-store").json({ endpoint: "/graphql", issuer: issuerUrl ?? null, development });
  });
  router.get(["/", "/index.html"], (_request, response, next) => {
    if (!sendPage(response)) next();
  });
  router.use("/assets", serveFiles(join(folder, "assets"), policy));
  return { router, sendPage, isBuilt: page !== undefined };
}

/** The page is also served at /graphql, so its relative URLs need a base. Undefined if the bundle is not built. */
function readPage(folder: string): string | undefined {
  try {
    const page = readFileSync(join(folder, "index.html"), "utf8");
    return page.replace(headTag, '$&<base href="/graphiql/">');
  } catch {
    return undefined;
  }
}

/** Serves assets/, whose file names contain a hash of the content. Each has the policy too, since a web worker obeys that of its own response. */
function serveFiles(folder: string, policy: string) {
  return express.static(folder, {
    index: false,
    redirect: false,
    etag: true,
    immutable: true,
    maxAge: yearMs,
    setHeaders: (response) => {
      response.setHeader("Content-Security-Policy", policy);
      response.setHeader("X-Content-Type-Options", "nosniff");
    },
  });
}

/** Permits 'self', the token issuer, and what the editor (Monaco) needs: it adds style elements, and has icons and fonts in data: URLs. */
function createPolicy(issuerUrl: string | undefined): string {
  const issuer = issuerUrl === undefined ? "" : ` ${new URL(issuerUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "worker-src 'self'",
    `connect-src 'self'${issuer}`,
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
