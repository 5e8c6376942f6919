import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  const graphiqlFolder = mkdtempSync(join(tmpdir(), "graphiql-"));
  mkdirSync(join(graphiqlFolder, "assets"));
  writeFileSync(
    join(graphiqlFolder, "index.html"),
    '<html><head><script src="./assets/index-1.js"></script></head></html>',
  );
  writeFileSync(join(graphiqlFolder, "assets/index-1.js"), "export {};");
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    graphiqlFolder,
    environment: { ISSUER_URL: "http://127.0.0.1:4020/issuer" },
  });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

test.each(["/graphql", "/graphql?query={whoAmI}", "/graphiql", "/graphiql/"])(
  "a browser that opens %s gets the page",
  async (path) => {
    const response = await get(path, browser);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("vary")).toContain("Accept");
    expect(await response.text()).toContain('<head><base href="/graphiql/"><script src="./assets/index-1.js">');
  },
);

test("caches store the page separately for each origin, like every other response", async () => {
  const response = await get("/graphql", { ...browser, origin: "http://localhost:3000" });
  expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
  expect(response.headers.get("vary")).toBe("Origin, Accept, Accept-Encoding");
});

test("the page may send requests only to this server, and to the local issuer in development", async () => {
  const policy = (await get("/graphql", browser)).headers.get("content-security-policy") ?? "";
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "worker-src 'self'",
    "connect-src 'self' http://127.0.0.1:4020",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test("programs that open /graphql without a CSRF header get JSON, not the page", async () => {
  for (const accept of ["*/*", "application/json", "application/graphql-response+json, text/html;q=0.5"]) {
    const response = await get("/graphql?query={whoAmI}", { accept });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: "CSRF_PREVENTED" } }] });
  }
});

test("its files are cached forever, and missing files are 404 in JSON", async () => {
  const file = await get("/graphiql/assets/index-1.js");
  expect(file.headers.get("content-type")).toMatch(/^text\/javascript/);
  expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  for (const path of ["/graphiql/assets/none.js", "/graphiql/assets", "/graphiql/assets/", "/graphiql/none"]) {
    const missing = await get(path, browser);
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ errors: [{ extensions: { code: "NOT_FOUND" } }] });
  }
});

test("its configuration has the URLs of the endpoint and the issuer", async () => {
  expect(await (await get("/graphiql/config.json")).json()).toEqual({
    endpoint: "/graphql",
    issuer: "http://127.0.0.1:4020/issuer",
  });
});

test("without a built bundle a browser gets an error in JSON, and everything else works", async () => {
  const bare = await startGateway({ supergraphSdl: library.supergraphSdl });
  const page = await fetch(`${bare.url}/graphql`, { headers: browser });
  expect(page.status).toBe(404);
  expect(await page.text()).toContain("GraphiQL is not built");
  expect(await (await fetch(`${bare.url}/graphiql/config.json`)).json()).toEqual({
    endpoint: "/graphql",
    issuer: null,
  });
  expect((await bare.send("{ whoAmI }")).status).toBe(200);
  await bare.drain();
});
