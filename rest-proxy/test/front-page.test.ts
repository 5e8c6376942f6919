import { expect, test } from "vitest";
import { createDocuments } from "../src/documents/documents.ts";
import { loadDocuments } from "../src/documents/load.ts";
import { loadRoutes } from "../src/route/routes.ts";
import { startProxy, startStub } from "./testing.ts";

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const texts = loadDocuments(new URL("../../supergraph/openapi", import.meta.url).pathname);
const allRoutes = loadRoutes(new URL("../../supergraph/routes.json", import.meta.url).pathname);

test("programs get the front page as JSON, browsers as HTML, and no service gets a request", async () => {
  const stub = await startStub();
  const { url } = await startProxy(stub, { documents: texts });
  for (const accept of ["*/*", "application/json", "image/png"]) {
    const response = await fetch(`${url}/?any=query`, { headers: { accept } });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("link")).toBe('</.well-known/api-catalog>; rel="api-catalog"');
    expect(await response.json()).toEqual({
      name: "REST API",
      description: "Versioned resources with caching, over the data of all services.",
      version: "1.2.3",
      links: {
        docs: "/docs",
        "openapi-v2": "/openapi/v2.json",
        "openapi-v1": "/openapi/v1.json",
        problems: "/problems",
        "api-catalog": "/.well-known/api-catalog",
        health: "/health/ready",
        status: "/health/status",
      },
    });
  }
  const page = await fetch(url, { headers: { accept: browserAccept } });
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("vary")).toMatch(/\bAccept, Accept-Encoding/);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+='; img/);
  const text = await page.text();
  expect(text).toMatch(/<dt>things<\/dt>\s*<dd>no request yet<\/dd>/);
  expect(text).not.toMatch(/<script| style="| on[a-z]+="/);
  const paths = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path!);
  expect(paths).toHaveLength(7);
  for (const path of paths) expect((await fetch(url + path)).status, path).toBe(200);
  expect(stub.received).toEqual([]);
});

test("HEAD has no body, a known ETag is 304, and other methods are 405 problems with Allow", async () => {
  const { url } = await startProxy(await startStub());
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const etag = head.headers.get("etag") ?? "none";
  expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
  expect((await fetch(url, { headers: { "if-none-match": etag, accept: browserAccept } })).status).toBe(200);
  const posted = await fetch(url, { method: "POST", body: "{}" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await posted.json()).toMatchObject({ type: "/problems/method-not-allowed", instance: "/" });
});

test("in development the pages lead to the gateway's, and to the changes since the last release", () => {
  const changes = {
    since: "1.2.2",
    graphql: [
      { level: "breaking", message: "Field `body` was removed from object type `Post`." },
      { level: "safe", message: "Field `a<b>` was added." },
    ],
    rest: [],
  } as const;
  const development = { gatewayUrl: "http://127.0.0.1:4000", changes };
  const frontPage = { version: "1.2.3" };
  const documents = createDocuments({ texts, retirements: [], frontPage, development });
  const read = (path: string, accept = "text/html") =>
    documents.find(path)?.respond("GET", { accept }).bytes.toString() ?? "none";
  const { links } = JSON.parse(read("/", "application/json")) as { readonly links: object };
  expect(links).toMatchObject({ changes: "/docs/changes", gateway: "http://127.0.0.1:4000" });
  for (const page of ["/docs", "/docs/v1", "/docs/changes", "/problems"])
    for (const url of ["http://127.0.0.1:4000/graphiql", "http://127.0.0.1:4000/owners", "/docs/changes"])
      expect(read(page)).toContain(`<a href="${url}"`);
  const page = read("/docs/changes").replaceAll(/\s+/g, " ");
  expect(page).toContain("<h1>Changes since version 1.2.2</h1>");
  expect(page).toMatch(/Breaking[^]*<code>body<\/code> was removed[^]*Compatible[^]*<code>a&#60;b&#62;<\/code>/);
  expect(page).toMatch(/<h2>REST<\/h2>\s*<p>No change\.<\/p>/);
  const production = createDocuments({ texts, retirements: [], frontPage });
  expect(production.find("/docs/changes")).toBeUndefined();
});

test("in production the front page has no state and does not link the health path, which no route publishes", () => {
  const frontPage = { version: "1.2.3" };
  const documents = createDocuments({ texts: new Map(), retirements: [], frontPage });
  const { bytes } = documents.find("/")!.respond("GET", {});
  expect(documents.find("/")!.respond("GET", { accept: "text/html" }).bytes.toString()).not.toContain("<dl>");
  const { links } = JSON.parse(bytes.toString()) as { readonly links: object };
  expect(links).toEqual({ docs: "/docs", problems: "/problems", "api-catalog": "/.well-known/api-catalog" });
});

test("/v1 and /v2, which the API catalog names, link to the version's resources and documents, and all links resolve", async () => {
  const nowMs = Date.UTC(2030, 0, 1);
  const retirements = [{ version: 1, deprecatedAtMs: nowMs - 1_000, sunsetAtMs: nowMs + 1_000 }];
  const stub = await startStub();
  const { url } = await startProxy(stub, { documents: texts, retirements, nowMs: () => nowMs, routes: allRoutes });
  const catalog = (await (await fetch(`${url}/.well-known/api-catalog`)).json()) as Catalog;
  const items = catalog.linkset[0].item.map(({ href }) => href);
  expect(items).toEqual(["/v1", "/v2"]);
  for (const item of items) {
    const response = await fetch(url + item);
    const { headers } = response;
    expect([response.status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect([headers.get("api-version"), headers.get("cache-control")]).toEqual([item.slice(2), "public, no-cache"]);
    const { links } = (await response.json()) as { readonly links: Readonly<Record<string, string>> };
    expect(links).toMatchObject({ users: `${item}/users`, docs: `/docs${item}`, openapi: `/openapi${item}.json` });
    const linked = [...(headers.get("link") ?? "").matchAll(/<([^>]+)>/g)].map(([, path = ""]) => path);
    for (const path of [...Object.values(links), ...linked]) expect((await fetch(url + path)).status, path).toBe(200);
    expect((await fetch(url + item, { method: "HEAD" })).status).toBe(200);
    const etag = headers.get("etag") ?? "none";
    expect((await fetch(url + item, { headers: { "if-none-match": etag } })).status).toBe(304);
  }
  const old = (await fetch(`${url}/v1`)).headers;
  expect([old.get("deprecation"), old.get("sunset")]).toEqual(["@1893455999", "Tue, 01 Jan 2030 00:00:01 GMT"]);
  expect(old.get("link")).toContain('</docs/v1>; rel="deprecation"; type="text/html"');
  expect(old.get("link")).toContain('</v2>; rel="successor-version"');
});

test("browsers get the descriptions of resources with their Markdown, unless these only repeat the title", async () => {
  const { url } = await startProxy(await startStub(), { documents: texts, routes: allRoutes });
  const page = await (await fetch(`${url}/v2`, { headers: { accept: browserAccept } })).text();
  expect(page).toContain("<code>private</code> is absent.");
  expect(page.match(/Published posts, newest first/g)).toHaveLength(1);
});

interface Catalog {
  readonly linkset: readonly [{ readonly item: readonly { readonly href: string }[] }];
}
