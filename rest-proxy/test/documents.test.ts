import { execFileSync } from "node:child_process";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { statusOf } from "@tributary/kit/errors/app-error";
import { ConfigError } from "@tributary/kit/process/env";
import { expect, test } from "vitest";
import { createDocuments } from "../src/documents/documents.ts";
import { html, markdown } from "@tributary/kit/pages/html";
import { loadDocuments } from "../src/documents/load.ts";
import {
  groupsOf,
  type OpenApi,
  type Operation,
  operationsOf,
  type Parameter,
} from "../src/documents/open-api/open-api.ts";
import type { NegotiationHeaders, PageResponse } from "../src/documents/pages.ts";
import { describeAuthorization } from "../src/documents/operation-view.ts";
import { createSamples } from "../src/documents/samples.ts";
import { viewTryIt } from "../src/documents/try-it-form.ts";

const texts = loadDocuments(new URL("../../supergraph/openapi", import.meta.url).pathname);
const frontPage = { version: "1.2.3" };
const documents = createDocuments({ texts, retirements: [], frontPage });
const deprecatedAtMs = Date.UTC(2030, 0, 31);
const sunsetAtMs = Date.UTC(2030, 6, 31);
const version1Retires = createDocuments({
  texts,
  retirements: [{ version: 1, deprecatedAtMs, sunsetAtMs }],
  frontPage,
});

test("each version's document is served as composition generated it", () => {
  expect(new Set(texts.keys())).toEqual(new Set([1, 2]));
  for (const [version, text] of texts) {
    const response = get(`/openapi/v${version}.json`);
    expect(response.status).toBe(200);
    expect(headersOf(response)).toMatchObject({ "Content-Type": "application/json" });
    expect(response.bytes.toString()).toBe(text);
  }
});

test("the reference renders what the document of a service in another language may leave out", () => {
  const operation = {
    operationId: "getThing",
    summary: "One thing",
    description: "One thing.",
    tags: ["Things"],
    security: [{ bearer: [] }],
    parameters: [{ name: "size", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 5 } }],
    responses: { 200: { description: "The thing." } },
  };
  const [text = "{}"] = texts.values();
  const tags = [{ name: "Things", description: "All." }];
  const document = { ...(JSON.parse(text) as OpenApi), tags, paths: { "/things": { get: operation } } };
  const { status, bytes } = get(
    "/docs/v1/things",
    {},
    createDocuments({ texts: new Map([[1, JSON.stringify(document)]]), retirements: [], frontPage }),
  );
  const page = bytes.toString();
  expect(status).toBe(200);
  expect(page).toContain('<p>Requires <a href="/docs/tokens">a token</a>.</p>');
  expect(page).toContain("integer<small>, from 1 to 5</small>");
  expect(page).not.toContain("<p>One thing.</p>");
});

const ofAFramework = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "0.1.0" },
  servers: [{ url: "http://localhost:8080/api" }],
  paths: {
    "/pets/{id}": {
      summary: "One pet",
      parameters: [{ $ref: "#/components/parameters/id" }],
      get: {
        responses: {
          "2XX": { $ref: "#/components/responses/pet" },
          default: { description: "Any error." },
        },
      },
      put: {
        operationId: "replacePet",
        tags: ["writes"],
        security: [{ basic: [] }],
        requestBody: { $ref: "#/components/requestBodies/pet" },
        responses: { 422: { description: "Wrong." } },
      },
    },
    "/pets": { get: { parameters: [{ name: "page", in: "query" }], responses: { 200: { description: "All." } } } },
  },
  components: {
    parameters: { id: { name: "id", in: "path", required: true, schema: { type: "integer" }, example: 7 } },
    responses: { pet: { description: "The pet.", content: { "application/hal+json": {} } } },
    requestBodies: { pet: { content: { "application/json": { schema: { type: "object" }, example: { a: 1 } } } } },
  },
};

test("the reference shows the document of any framework: without descriptions, tags, ids and schemas", () => {
  const text = JSON.stringify(ofAFramework);
  const options = { texts: new Map([[1, text]]), frontPage };
  const foreign = createDocuments({ ...options, retirements: [] });
  const page = (path: string) => get(path, {}, foreign).bytes.toString();
  expect(page("/openapi/v1.json")).toBe(text);
  expect(page("/docs/v1")).toContain("GET /pets");
  const operations = page("/docs/v1/operations");
  expect(operations).toContain("curl -i \\\n  &#39;http://localhost:4010/v1/pets/7&#39;");
  expect(operations).toContain("Errors: default");
  expect(operations).toContain("<h5>2XX</h5>");
  expect(operations).toContain("Requires no token.");
  expect(page("/docs/v1/writes")).toContain('id="replacePet"');
  expect(page("/docs/v1/writes")).toContain("data=json.dumps(");
  expect(page("/v1")).toContain("/v1/pets");
  const retired = createDocuments({ ...options, retirements: [{ version: 1, deprecatedAtMs, sunsetAtMs }] });
  const marked = JSON.parse(get("/openapi/v1.json", {}, retired).bytes.toString()) as typeof ofAFramework;
  expect(marked.paths["/pets/{id}"]).toMatchObject({
    summary: "One pet",
    parameters: [{ $ref: "#/components/parameters/id" }],
    get: { deprecated: true },
  });
  expect(marked.info).not.toHaveProperty("description", expect.stringContaining("undefined"));
});

test.each([
  ["is of Swagger 2", { swagger: "2.0", info: {}, paths: {} }, "v1.json is not a document of OpenAPI 3"],
  [
    "refers to nothing",
    { openapi: "3.0.3", paths: { "/a": { get: { responses: { 200: { $ref: "#/components/responses/a" } } } } } },
    "#/components/responses/a does not exist",
  ],
])("a document that %s is a problem of the configuration", (_, document, message) => {
  const create = () => createDocuments({ texts: new Map([[1, JSON.stringify(document)]]), retirements: [], frontPage });
  expect(create).toThrow(ConfigError);
  expect(create).toThrow(message);
});

test("schemas that all refer to each other are expanded to some hundred fields", () => {
  const names = Array.from({ length: 30 }, (_, index) => `S${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
  const schemas = Object.fromEntries(names.map((name) => [name, { type: "object", properties }]));
  const content = { "application/json": { schema: { $ref: "#/components/schemas/S0" } } };
  const paths = { "/a": { get: { responses: { 200: { description: "A.", content } } } } };
  const text = JSON.stringify({ openapi: "3.0.3", info: {}, paths, components: { schemas } });
  const dense = createDocuments({ texts: new Map([[1, text]]), retirements: [], frontPage });
  expect(get("/docs/v1/operations", {}, dense).bytes.length).toBeLessThan(1_000_000);
});

test("the document of a deprecated version marks each operation, and has the dates and the successor", () => {
  const { info, paths } = readOpenApi(get("/openapi/v1.json", {}, version1Retires));
  expect(info.description).toMatch(
    /^\*\*Deprecated\*\* as of 2030-01-31\. From 2030-07-31 every request to version 1 gets 410 Gone\. Use \[version 2\]\(\/docs\/v2\)/,
  );
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  expect(operations.length).toBeGreaterThan(20);
  expect(operations.filter(({ deprecated }) => deprecated !== true)).toEqual([]);
  expect(get("/openapi/v2.json", {}, version1Retires).bytes.toString()).toBe(texts.get(2));
});

test("the ETag of a deprecated version's document changes with its dates", () => {
  const later = createDocuments({
    texts,
    retirements: [{ version: 1, deprecatedAtMs, sunsetAtMs: sunsetAtMs + 86_400_000 }],
    frontPage,
  });
  const etags = [documents, version1Retires, later].map((one) => headersOf(get("/openapi/v1.json", {}, one))["ETag"]);
  expect(new Set(etags).size).toBe(3);
  const etag = etags[0] ?? "";
  expect(get("/openapi/v1.json", { "if-none-match": etag }, version1Retires).status).toBe(200);
});

test("a version with only a sunset is deprecated too, and the newest version has no successor", () => {
  const both = createDocuments({
    texts,
    retirements: [
      { version: 1, deprecatedAtMs: undefined, sunsetAtMs },
      { version: 2, deprecatedAtMs, sunsetAtMs: undefined },
    ],
    frontPage,
  });
  const startOf = (version: number) =>
    readOpenApi(get(`/openapi/v${version}.json`, {}, both)).info.description.split("\n", 1)[0];
  expect(startOf(1)).toBe(
    "**Deprecated**. From 2030-07-31 every request to version 1 gets 410 Gone. Use [version 2](/docs/v2) instead ([OpenAPI](/openapi/v2.json)).",
  );
  expect(startOf(2)).toBe("**Deprecated** as of 2030-01-31.");
});

test("the reference shows that a version is deprecated, in the list, at the top and at each operation", () => {
  const overview = get("/docs", {}, version1Retires).bytes.toString();
  expect(overview).toMatch(/Version 1<\/a> <strong>deprecated<\/strong>/);
  expect(overview).not.toMatch(/Version 2<\/a> <strong>deprecated<\/strong>/);
  const index = get("/docs/v1", {}, version1Retires).bytes.toString();
  expect(index).toContain("<strong>Deprecated</strong> as of 2030-01-31");
  expect(index).toContain('<a href="/docs/v2">version 2</a> instead (<a href="/openapi/v2.json">OpenAPI</a>)');
  const page = groupPagesOf(1, version1Retires);
  expect(page).toMatch(/<a href="\/docs\/v2\/orders#placeOrder">\s*POST \/v2\/orders<\/a\s*>/);
  const { paths } = readOpenApi(get("/openapi/v1.json"));
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  expect(page.match(/<strong>deprecated<\/strong><\/h3>/g)).toHaveLength(operations.length);
  expect(get("/docs/v1").bytes.toString() + groupPagesOf(1)).not.toMatch(/<strong>deprecated/i);
});

test("the catalog links a deprecated version to its successor and to the page about its deprecation", () => {
  const { linkset } = JSON.parse(get("/.well-known/api-catalog", {}, version1Retires).bytes.toString()) as {
    readonly linkset: readonly object[];
  };
  expect(linkset).toContainEqual({
    anchor: "/v1",
    "service-desc": [{ href: "/openapi/v1.json", type: "application/json" }],
    "service-doc": [{ href: "/docs/v1", type: "text/html" }],
    deprecation: [{ href: "/docs/v1", type: "text/html" }],
    "successor-version": [{ href: "/v2" }],
  });
});

test("the catalog links each version to its document and its reference", () => {
  const response = get("/.well-known/api-catalog");
  const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
  expect(headersOf(response)).toMatchObject({ "Content-Type": type });
  const { linkset } = JSON.parse(response.bytes.toString()) as { readonly linkset: readonly object[] };
  expect(linkset).toContainEqual({
    anchor: "/v2",
    "service-desc": [{ href: "/openapi/v2.json", type: "application/json" }],
    "service-doc": [{ href: "/docs/v2", type: "text/html" }],
  });
  expect(headersOf(find({ method: "HEAD", path: "/.well-known/api-catalog", headers: {} }))).toMatchObject({
    Link: '</.well-known/api-catalog>; rel="api-catalog", </v1>; rel="item", </v2>; rel="item"',
  });
});

test("every error code has a page, as HTML and as JSON", () => {
  for (const [code, status] of Object.entries(statusOf)) {
    const path = `/problems/${code.toLowerCase().replaceAll("_", "-")}`;
    expect(get(path).bytes.toString()).toContain(`Status ${status}`);
    const asJson = get(path, { accept: "application/json" });
    expect(headersOf(asJson)).toMatchObject({ Vary: "Accept, Accept-Encoding" });
    expect(JSON.parse(asJson.bytes.toString())).toMatchObject({ type: path, status, means: expect.any(String) });
  }
});

test("the list of problems is the current page only on itself", () => {
  const linkOf = (path: string) => /<a href="\/problems"[^>]*>/.exec(get(path).bytes.toString())?.[0];
  expect(linkOf("/problems")).toContain(`aria-current="page"`);
  expect(linkOf("/problems/not-found")).not.toContain("aria-current");
});

test("every link on every page leads to an existing page and fragment", () => {
  const pages = new Map<string, string>();
  const open = ["/", "/docs"];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (pages.has(path)) continue;
    const page = get(path, { accept: "text/html, */*;q=0.5" }).bytes.toString();
    pages.set(path, page);
    if (!page.startsWith("<!doctype html>")) continue;
    const links = [...page.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link]) => link!);
    open.push(...links.filter((link) => link.startsWith("/")).map((link) => link.split("#", 1)[0]!));
    for (const link of links.filter((link) => link.startsWith("#"))) {
      expect(page, `${path}${link}`).toContain(` id="${link.slice(1)}"`);
    }
    expect(links.filter((link) => !/^(?:[/#]|data:,$)/.test(link))).toEqual([]);
  }
  expect(pages.size).toBeGreaterThan(30);
});

test("pages load nothing from other origins, have no inline script or style, and a policy that forbids both", () => {
  const paths = ["/docs", "/docs/tokens", "/docs/v1", "/docs/v2/orders", "/docs/v2/schemas/Order"];
  for (const path of [...paths, "/docs/v2/guides/lists", "/problems", "/problems/not-found"]) {
    const response = get(path);
    const policy = headersOf(response)["Content-Security-Policy"];
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    const page = response.bytes.toString();
    expect(page).not.toMatch(/ style="|<style| on[a-z]+="|<script(?! type="module" src="\/docs\/docs\.js"><\/script>)/);
    expect(page.replaceAll(/<pre.*?<\/pre>/gs, "")).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  }
});

test("the reference shows every operation of its version, with a curl command", () => {
  const page = groupPagesOf(2);
  const document = JSON.parse(texts.get(2) ?? "") as { paths: Record<string, Record<string, { operationId: string }>> };
  for (const { operationId } of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    expect(page).toContain(` id="${operationId}"`);
  }
  const lines = [...page.matchAll(/data-language="curl">\s*<pre[^>]*>(.*?)<\/pre/gs)].map(([, line]) =>
    unescape(line!),
  );
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) {
    const words = execFileSync("sh", ["-c", `curl() { printf '%s\\n' "$@"; }; ${line}`]).toString();
    expect(words).toContain("http://localhost:4010/v2/");
    const body = /^-d\n(.*)$/m.exec(words)?.[1];
    if (body !== undefined) expect(JSON.parse(body)).toEqual(expect.any(Object));
  }
});

test("the fragments of the former page of a version lead from its index to the pages of today", () => {
  const index = get("/docs/v2").bytes.toString();
  const linkOf = (id: string) => new RegExp(`<li id="${id}">.*?<a href="([^"]*)"`, "s").exec(index)?.[1];
  expect(linkOf("placeOrder")).toBe("/docs/v2/orders#placeOrder");
  expect(linkOf("schema-Order")).toBe("/docs/v2/schemas/Order");
  expect(linkOf("section-lists")).toBe("/docs/v2/guides/lists");
  expect(index).toContain('<h2 id="schemas">');
});

test("the index begins with a read that needs no token and one that does, each with its form", () => {
  const [, first = ""] = /Your first request(.*?)<h2>/s.exec(get("/docs").bytes.toString()) ?? [];
  expect([...first.matchAll(/data-path="([^"]*)"/g)].map(([, path]) => path)).toEqual(["/v2/users", "/v2/orders"]);
});

test("with a local token issuer, the pages have a switch of the caller and may send requests to the issuer", () => {
  const issuerUrl = "http://127.0.0.1:4020/";
  const page = get("/docs", {}, createDocuments({ texts, retirements: [], frontPage, issuerUrl }));
  expect(page.bytes.toString()).toContain(`<label id="caller" data-issuer="${issuerUrl}" hidden>`);
  expect(headersOf(page)["Content-Security-Policy"]).toContain("connect-src 'self' http://127.0.0.1:4020;");
  expect(get("/docs").bytes.toString()).not.toContain("data-issuer");
  expect(headersOf(get("/docs"))["Content-Security-Policy"]).toContain("connect-src 'self';");
});

test("the page on tokens lists the scopes of every operation", () => {
  const page = get("/docs/tokens").bytes.toString();
  const { paths } = JSON.parse(texts.get(2) ?? "") as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  for (const { operationId } of Object.values(paths).flatMap((item) => Object.values(item))) {
    expect(page).toMatch(new RegExp(`<a href="/docs/v2/[a-z]+#${operationId}">`));
  }
  expect(page).toMatch(/#placeOrder.*?scope\s+<code>orders:write<\/code>/s);
});

test("an operation that any token permits names no scope", () => {
  const operation = { security: [{ bearer: [] }] } as unknown as Operation;
  expect(describeAuthorization(operation).html).toBe('Requires <a href="/docs/tokens">a token</a>.');
});

test("schemas are shown in place, with the properties of the schemas that they refer to", () => {
  const [, article = ""] =
    /<article id="getOrder">(.*?)<\/article>/s.exec(get("/docs/v2/orders").bytes.toString()) ?? [];
  for (const name of ["customerId", "total", "amountMinor", "unitPrice"]) {
    expect(article).toContain(`<code class="name">${name}</code>`);
  }
});

test("properties are shown with the description of a nullable one, and with the pattern of a cursor", () => {
  const page = unescape(get("/docs/v2/posts").bytes.toString());
  expect(page).toContain("When it was first published.");
  expect(page).toContain("matches <code>^[A-Za-z0-9_-]+$</code>");
});

test("the search index has the problems by status, the guides and the names of headers", () => {
  const { entries } = JSON.parse(get("/docs/search.json").bytes.toString()) as {
    readonly entries: readonly { readonly url: string; readonly texts: readonly string[] }[];
  };
  const textsOf = (url: string) => entries.find((entry) => entry.url === url)?.texts.join(" ");
  expect(textsOf("/problems/not-found")).toMatch(/^Not found 404 /i);
  expect(textsOf("/docs/v2/guides/lists")).toContain("pagination");
  expect(textsOf("/docs/v2/guides/reading")).toMatch(/caching.*ETag/s);
  expect(textsOf("/docs/v2/orders#getOrder")).toMatch(/GET \/v2\/orders\/\{id\}.* RateLimit /);
  expect(textsOf("/docs/tokens")).toContain("JWT");
  expect(textsOf("/problems")).toBeDefined();
});

test("the search index has every operation with its field names, and refers only to existing pages", () => {
  const { entries } = JSON.parse(get("/docs/search.json").bytes.toString()) as {
    readonly entries: readonly { readonly url: string; readonly label: string; readonly texts: readonly string[] }[];
  };
  const placeOrder = entries.find(({ label }) => label === "POST /v2/orders");
  expect(placeOrder).toMatchObject({ url: "/docs/v2/orders#placeOrder", title: "Place an order" });
  expect(placeOrder?.texts.at(-1)?.split(" ")).toEqual(
    expect.arrayContaining(["Idempotency-Key", "sku", "amountMinor"]),
  );
  for (const { url } of entries) {
    const [path = "", fragment] = url.split("#");
    const page = get(path).bytes.toString();
    if (fragment !== undefined) expect(page).toContain(` id="${fragment}"`);
  }
});

test("a required parameter without an example has no value in its try-it form", () => {
  const document = JSON.parse(texts.get(2) ?? "") as OpenApi;
  const { operation, ...entry } = operationsOf(document)[0]!;
  const parameter: Parameter = { name: "from", in: "query", required: true, schema: {} };
  const { html: form } = viewTryIt(document, { ...entry, operation }, [parameter]);
  expect(form).toMatch(/name="from"\s+data-in="query"\s+value=""/);
});

test("samples write constants and text as their language does", () => {
  const value = { name: 'Zoë "Z" O\'Hara', isAdmin: true, manager: null, tags: [] };
  const document = JSON.parse(texts.get(2) ?? "") as OpenApi;
  const operation: Operation = {
    operationId: "create",
    summary: "",
    description: "",
    tags: [],
    parameters: [],
    security: [{}],
    requestBody: { content: { "application/json": { schema: {}, examples: { one: { summary: "", value } } } } },
    responses: {},
  };
  const samples = createSamples(document, { method: "post", path: "/things", operation });
  const codeOf = (language: string) => samples.find((sample) => sample.language === language)?.code;
  expect(codeOf("Python")).toContain('"isAdmin": True,\n        "manager": None,\n        "tags": [],');
  expect(codeOf("JavaScript")).toContain('"isAdmin": true,\n    "manager": null,\n    "tags": [],');
  const words = execFileSync("sh", ["-c", `curl() { printf '%s\\n' "$@"; }; ${codeOf("curl")}`]).toString();
  expect(words).toContain(JSON.stringify(value));
});

test("clients revalidate pages with their scripts, style sheet and search index, and may store the rest for a minute", () => {
  const controlOf = (path: string) => headersOf(get(path))["Cache-Control"];
  for (const path of ["/docs", "/docs/v1", "/docs/docs.css", "/docs/docs.js", "/docs/search.json", "/problems"]) {
    expect(controlOf(path)).toBe("public, no-cache");
  }
  expect(controlOf("/openapi/v1.json")).toBe("public, max-age=60");
});

test("a matching If-None-Match gets 304, and HEAD no body", () => {
  const whole = get("/docs/v1");
  const { ETag = "", "Content-Length": length } = headersOf(whole);
  const known = get("/docs/v1", { "if-none-match": ETag });
  expect(known.status).toBe(304);
  expect(known.bytes).toHaveLength(0);
  expect(headersOf(known)).toMatchObject({ ETag, "Cache-Control": "public, no-cache" });
  const head = find({ method: "HEAD", path: "/docs/v1", headers: {} });
  expect(headersOf(head)).toMatchObject({ ETag, "Content-Length": length });
  expect(head.bytes).toHaveLength(0);
});

test("a compressed page has the same content and its own ETag", () => {
  const plain = get("/openapi/v1.json");
  const zipped = get("/openapi/v1.json", { "accept-encoding": "gzip" });
  const smaller = get("/openapi/v1.json", { "accept-encoding": "gzip, br" });
  expect(gunzipSync(zipped.bytes)).toEqual(plain.bytes);
  expect(brotliDecompressSync(smaller.bytes)).toEqual(plain.bytes);
  expect(new Set([plain, zipped, smaller].map((response) => headersOf(response)["ETag"])).size).toBe(3);
  expect(smaller.bytes.length).toBeLessThan(plain.bytes.length / 8);
});

test("other methods are rejected with Allow, and other paths have no document", () => {
  const refused = find({ method: "POST", path: "/docs", headers: {} });
  expect(refused.status).toBe(405);
  expect(headersOf(refused)).toMatchObject({ Allow: "GET, HEAD, OPTIONS", "Content-Type": "application/problem+json" });
  expect(refused.bytes.toString()).toContain("Use GET, HEAD or OPTIONS for this path.");
  expect(documents.find("/docs")?.allow).toBe("GET, HEAD, OPTIONS");
  for (const path of ["//", "/docs/", "/docs/v3", "/openapi/v3.json", "/problems/nothing", "/v1/users", "/__proto__"]) {
    expect(documents.find(path)).toBeUndefined();
  }
});

test("a proxy without OpenAPI documents still has the problem pages", () => {
  const bare = createDocuments({ texts: loadDocuments("/nowhere"), retirements: [], frontPage });
  expect(bare.find("/openapi/v1.json")).toBeUndefined();
  expect(get("/problems/not-found", {}, bare).status).toBe(200);
  expect(get("/docs", {}, bare).status).toBe(200);
});

test("inserted values are escaped", () => {
  expect(html`<p title="${'"'}">${"<script>"} & ${undefined}${[html`<b>${1}</b>`]}</p>`.html).toBe(
    '<p title="&#34;">&#60;script&#62; & <b>1</b></p>',
  );
  expect(markdown("a `<b>` **c**\n\n[d](/docs) [e](https://example.org)\n\n```sh\n<f> `g`\n```").html).toBe(
    '<p>a <code>&#60;b&#62;</code> <strong>c</strong></p><p><a href="/docs">d</a> [e](https://example.org)</p><pre>&#60;f&#62; `g`</pre>',
  );
  // In quadratic time this would take minutes.
  const brackets = "[".repeat(500_000);
  expect(markdown(`${brackets}a](/docs)`).html).toBe(`<p>${brackets.slice(1)}<a href="/docs">a</a></p>`);
});

interface DocumentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: NegotiationHeaders;
}

function find({ method, path, headers }: DocumentRequest, from = documents): PageResponse {
  const document = from.find(path);
  if (!document) throw new Error(`There is nothing at ${path}.`);
  return document.respond(method, headers);
}

function get(path: string, headers: NegotiationHeaders = {}, from = documents): PageResponse {
  return find({ method: "GET", path, headers }, from);
}

function groupPagesOf(version: number, from = documents): string {
  const groups = groupsOf(JSON.parse(texts.get(version) ?? "") as OpenApi);
  return groups.map(({ name }) => get(`/docs/v${version}/${name.toLowerCase()}`, {}, from).bytes.toString()).join("");
}

interface ServedOpenApi {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly deprecated?: boolean }>>>>;
}

function readOpenApi({ bytes }: PageResponse): ServedOpenApi {
  return JSON.parse(bytes.toString()) as ServedOpenApi;
}

function headersOf({ headers }: PageResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: headers.length / 2 }, (_, i) => [headers[i * 2], headers[i * 2 + 1]]));
}

function unescape(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
