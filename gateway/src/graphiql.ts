import { readFileSync } from "node:fs";
import { join } from "node:path";
import express, { type Response, type Router } from "express";

export interface GraphiqlOptions {
  /** The built bundle: `index.html`, which loads `./assets/*`. */
  readonly folder: string;
  /** The local token issuer, in development; the page may talk to it. */
  readonly issuerUrl: string | undefined;
}

export interface Graphiql {
  /** `/graphiql/*`: the page's own files and its configuration. */
  readonly router: Router;
  /** Sends the page; false when the bundle is not built. */
  sendPage(response: Response): boolean;
}

const yearSeconds = 31_536_000;

/** The page for people, from our own bundle. Nothing of it comes from elsewhere, and the policy holds it to that. */
export function createGraphiql({ folder, issuerUrl }: GraphiqlOptions): Graphiql {
  const page = readPage(folder);
  const policy = createPolicy(issuerUrl);

  function sendPage(response: Response): boolean {
    if (page === undefined) return false;
    response.set({
      "Content-Security-Policy": policy,
      "Cache-Control": "no-cache",
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
      Vary: "Accept",
    });
    response.type("html").send(page);
    return true;
  }

  const router = express.Router();
  router.get("/config.json", (_request, response) => {
    response.set("Cache-Control", "no-store").json({ endpoint: "/graphql", issuer: issuerUrl ?? null });
  });
  router.get(["/", "/index.html"], (_request, response, next) => {
    if (!sendPage(response)) next();
  });
  router.use("/assets", serveFiles(join(folder, "assets"), policy));
  return { router, sendPage };
}

/** The page is also served at /graphql, so its relative addresses need a base. */
function readPage(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "index.html"), "utf8").replace(/<head>/i, '$&<base href="/graphiql/">');
  } catch {
    return undefined;
  }
}

/** Files under assets/ bear a hash of their content in their name. Workers take their policy from their own response. */
function serveFiles(folder: string, policy: string) {
  return express.static(folder, {
    index: false,
    redirect: false,
    etag: true,
    immutable: true,
    maxAge: yearSeconds * 1_000,
    setHeaders: (response) => {
      response.setHeader("Content-Security-Policy", policy);
      response.setHeader("X-Content-Type-Options", "nosniff");
    },
  });
}

/** Only 'self'. The editor (Monaco) sets style elements and draws its icons and fonts from data: addresses. */
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
