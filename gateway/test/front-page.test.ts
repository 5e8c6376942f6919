import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFrontPageResponder } from "../src/front-page.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const restProxyUrl = "http://127.0.0.1:4010";

let gateway: RunningGateway;

/** Without a supergraph: the front page needs none. */
beforeAll(async () => {
  const graphiqlFolder = mkdtempSync(join(tmpdir(), "graphiql-"));
  writeFileSync(join(graphiqlFolder, "index.html"), "<html><head></head></html>");
  gateway = await startGateway({
    graphiqlFolder,
    environment: { BUILD_VERSION: "1.2.3", REST_PROXY_URL: restProxyUrl },
  });
});
afterAll(() => gateway.drain());

function get(headers: Record<string, string> = {}, method = "GET", path = "/"): Promise<Response> {
  return fetch(gateway.url + path, { method, headers });
}

test("programs get the front page as JSON, browsers as HTML", async () => {
  for (const accept of ["*/*", "application/json", "image/png", "application/json, text/html;q=0.5"]) {
    const response = await get({ accept });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.json()).toEqual({
      name: "GraphQL gateway",
      description: "One GraphQL API over the data of all services.",
      version: "1.2.3",
      links: {
        graphql: "/graphql",
        graphiql: "/graphiql",
        schema: "/schema.graphql",
        owners: "/owners",
        health: "/health/ready",
        status: "/health/status",
        rest: restProxyUrl,
        changes: `${restProxyUrl}/docs/changes`,
      },
    });
  }
  const page = await get({ accept: browserAccept });
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const text = await page.text();
  expect(text).toMatch(/^<!doctype html>[^]*<h1>GraphQL gateway<\/h1>/);
  expect(text).toMatch(/<dt>supergraph<\/dt>\s*<dd>(<strong>Attention:<\/strong> )?none from/);
});

test("every link of the front page is served, except to the endpoint for programs", async () => {
  const text = await (await get({ accept: browserAccept })).text();
  const paths = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path!);
  const ownPaths = paths.filter((path) => path.startsWith("/"));
  expect(ownPaths).toEqual(["/graphiql", "/schema.graphql", "/owners", "/health/ready", "/health/status"]);
  expect(paths.slice(ownPaths.length)).toEqual([restProxyUrl, `${restProxyUrl}/docs/changes`]);
  for (const path of ownPaths) expect((await get({ accept: browserAccept }, "GET", path)).status, path).not.toBe(404);
});

test("the front page links only what is served: no GraphiQL, no schema and in production neither health path nor state", () => {
  type Parts = Parameters<typeof createFrontPageResponder>;
  const linksOf = (config: Parts[0], hasGraphiql: boolean) => {
    const supergraph = { id: "f00", ageSeconds: 1, staleSeconds: 0, rejected: undefined };
    const source = "https://ada:plum@registry.example/graph?key=plum";
    const readState = () => ({ ...build, supergraph: { ...supergraph, source } });
    const respond = createFrontPageResponder(config, hasGraphiql, readState);
    const page = respond({ method: "GET", headers: { accept: browserAccept } }).body.toString();
    expect(page.includes("@registry.example/graph")).toBe(config.profile === "development");
    expect(page).not.toContain("plum");
    const { body } = respond({ method: "GET", headers: {} });
    return Object.keys((JSON.parse(body.toString()) as { readonly links: object }).links);
  };
  const build = { version: "1.2.3", revision: "unknown" };
  expect(linksOf({ build, introspection: false, profile: "production" }, false)).toEqual(["graphql"]);
  expect(linksOf({ build, introspection: true, profile: "production" }, true)).toEqual([
    ...["graphql", "graphiql", "schema"],
  ]);
  expect(linksOf({ build, introspection: false, profile: "development" }, false)).toEqual([
    ...["graphql", "owners", "health", "status"],
  ]);
});

test("caches validate the front page by its ETag, for each media type separately", async () => {
  const [json, page] = await Promise.all([get(), get({ accept: browserAccept })]);
  const etag = json.headers.get("etag") ?? "none";
  expect(page.headers.get("etag")).not.toBe(etag);
  for (const { headers } of [json, page]) {
    expect(headers.get("cache-control")).toBe("public, no-cache");
    expect(headers.get("vary")).toMatch(/\bAccept, Accept-Encoding/);
  }
  const confirmed = await get({ "if-none-match": etag });
  expect(confirmed.status).toBe(304);
  expect((await get({ "if-none-match": etag, accept: browserAccept })).status).toBe(200);
});

test("HEAD has the headers of GET and no body; other methods are 405 with Allow", async () => {
  const [got, head] = await Promise.all([get(), get({}, "HEAD")]);
  expect([head.status, await head.text()]).toEqual([200, ""]);
  for (const name of ["content-type", "content-length", "etag"]) {
    expect(head.headers.get(name)).toBe(got.headers.get(name));
  }
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    const rejected = await get({}, method);
    expect([rejected.status, rejected.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await rejected.json()).toMatchObject({ errors: [{ extensions: { code: "METHOD_NOT_ALLOWED" } }] });
  }
});

test("the policy of the page permits only its own style element, and the page has no scripts", async () => {
  const page = await get({ accept: browserAccept });
  expect(page.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]+='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await page.text()).not.toMatch(/<script| style="| on[a-z]+="|(?:src|<link[^>]* href)="(?:https?:)?\/\//);
});
