import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createAuthority } from "./helpers/certificates.ts";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { startGateway } from "./helpers/gateway.ts";
import { toBundle } from "./helpers/trusted-documents.ts";
import { composeSupergraph, respondJson, startSubgraph } from "./helpers/subgraphs.ts";

// Performs the examples of docs/configure-the-gateway.md. Where a page names a subgraph, the test's has that name.

const page = readFileSync(new URL("../../docs/configure-the-gateway.md", import.meta.url), "utf8");

function exampleOf(heading: string): string {
  const section = page.split("\n## ").find((text) => text.startsWith(heading)) ?? "";
  return /```yaml\n(.*?)```/s.exec(section)?.[1] ?? "";
}

const query = '{ one(name: "x-tenant-id") }';

test("each section with an example is performed below", () => {
  const headings = page
    .split("\n## ")
    .filter((text) => text.includes("```yaml"))
    .map((text) => text.split("\n", 1)[0]);
  expect(headings).toEqual([
    "Forward a tenant header",
    "Return a header, and log in by cookie",
    "Show an error code",
    "Slow subgraphs",
    "Call a subgraph with its own credentials",
    "Trust a private authority, and show a client certificate",
    "Ask a remote subgraph for compressed responses",
    "Follow a redirect",
    "Name operations in a subgraph's traces",
    "Allow another origin",
    "Block an operation during an incident",
    "Execute registered documents only",
    "Send the statuses of the 2026 draft",
    "Load the supergraph from a registry",
  ]);
});

test("Forward a tenant header", async () => {
  const { sendRaw } = await startEchoPlatform(exampleOf("Forward a tenant header"));
  expect((await sendRaw(query, [["X-Tenant-Id", "t1"]])).body.data.one).toBe("t1");
});

test("Return a header, and log in by cookie", async () => {
  const { first, sendRaw } = await startEchoPlatform(exampleOf("Return a header, and log in by cookie"));
  const origin = ["origin", "https://app.example.com"] as const;
  first.fault = (response, _body, _request, resolve) =>
    void resolve().then((result) =>
      respondJson(response, 200, JSON.stringify(result), { "set-cookie": "session=s1; HttpOnly; Secure" }),
    );
  const login = await sendRaw('mutation { oneWrite(name: "x") }', [origin]);
  expect(login.headers).toMatchObject({
    "set-cookie": ["session=s1; HttpOnly; Secure"],
    "access-control-allow-origin": "https://app.example.com",
    "access-control-allow-credentials": "true",
  });
  const read = await sendRaw('{ one(name: "cookie") }', [origin, ["cookie", "other=1; session=s1"]]);
  expect(read.body.data.one).toBe("session=s1");
});

test("Show an error code", async () => {
  const yaml = exampleOf("Show an error code").replace("orders:", "first:");
  const { first, sendRaw } = await startEchoPlatform(yaml);
  const extensions = { code: "OUT_OF_STOCK", retryAfterSeconds: 9, sql: "SELECT" };
  first.fault = (response) =>
    respondJson(response, 200, JSON.stringify({ data: null, errors: [{ message: "Two are left.", extensions }] }));
  expect((await sendRaw(query, [])).body.errors).toEqual([
    {
      message: "Two are left.",
      path: ["one"],
      extensions: { code: "OUT_OF_STOCK", retryAfterSeconds: 9, service: "first" },
    },
  ]);
});

test("Slow subgraphs", async () => {
  const yaml = exampleOf("Slow subgraphs").replace("search:", "first:");
  expect(yaml).toContain("timeout_ms: 2000");
  const { first, second, sendRaw } = await startEchoPlatform(yaml.replace("timeout_ms: 2000", "timeout_ms: 50"));
  for (const subgraph of [first, second])
    subgraph.fault = (response, _body, _request, resolve) =>
      setTimeout(() => void resolve().then((result) => respondJson(response, 200, JSON.stringify(result))), 300);
  const { body } = await sendRaw('{ one(name: "host") two(name: "host") }', []);
  expect(body.data).toEqual({ one: expect.any(String), two: null });
  expect(body.errors[0].extensions).toEqual({ code: "SUBGRAPH_TIMEOUT", service: "second-one" });
});

test("Call a subgraph with its own credentials", async () => {
  const yaml = exampleOf("Call a subgraph with its own credentials").replace("search:", "first:");
  const { sendRaw } = await startEchoPlatform(
    ({ url }) => yaml.replace("https://", "http://").replace("search.example.com/graphql", url.slice("http://".length)),
    { SEARCH_PASSWORD: "s3cr3t" },
  );
  const { body } = await sendRaw('{ one(name: "authorization") }', [["authorization", "Bearer t"]]);
  expect(body.data.one).toBe(`Basic ${Buffer.from("gateway:s3cr3t").toString("base64")}`);
});

test("Trust a private authority, and show a client certificate", async () => {
  const authority = await createAuthority("test authority");
  const [server, client] = await Promise.all([authority.issue("subgraph"), authority.issue("gateway")]);
  const folder = mkdtempSync(join(tmpdir(), "gateway-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { "ca.crt": authority.cert, "tls.crt": client.cert, "tls.key": client.key };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const yaml = exampleOf("Trust a private authority").replace("search:", "first:");
  const { first, sendRaw } = await startEchoPlatform(
    yaml.replaceAll("/etc/gateway/tls", folder),
    {},
    { ...server, ca: authority.cert, requestCert: true },
  );
  expect((await sendRaw('{ one(name: "host") }', [])).body.data.one).toBe(new URL(first.url).host);
});

test("Ask a remote subgraph for compressed responses", async () => {
  const yaml = exampleOf("Ask a remote subgraph").replace("search:", "first:");
  const { first, sendRaw } = await startEchoPlatform(yaml);
  first.fault = async (response, _body, _request, resolve) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(JSON.stringify(await resolve())));
  expect((await sendRaw('{ one(name: "accept-encoding") }', [])).body.data.one).toBe("zstd, br, gzip");
});

test("Follow a redirect", async () => {
  const { first, sendRaw } = await startEchoPlatform(exampleOf("Follow a redirect").replace("search:", "first:"));
  first.fault = (response, _body, { url }, resolve) =>
    url === "/graphql"
      ? response.writeHead(308, { location: "/v2/graphql" }).end()
      : resolve().then((result) => respondJson(response, 200, JSON.stringify(result)));
  expect((await sendRaw('{ one(name: "host") }', [])).body.data.one).toBe(new URL(first.url).host);
});

test("Name operations in a subgraph's traces", async () => {
  const { first, sendRaw } = await startEchoPlatform(exampleOf("Name operations").replace("search:", "first:"));
  await sendRaw(`query Home ${query}`, []);
  expect(first.requests.map(({ body }) => body.query)).toEqual([expect.stringMatching(/^query Home__first__0/)]);
});

test("Allow another origin", async () => {
  const { sendRaw } = await startEchoPlatform(exampleOf("Allow another origin"));
  const allowedOf = async (origin: string) =>
    (await sendRaw(query, [["origin", origin]])).headers["access-control-allow-origin"];
  for (const origin of ["https://app.example.com", "https://pr-7.preview.example.com", "http://localhost:5173"])
    expect(await allowedOf(origin)).toBe(origin);
  expect(await allowedOf("https://example.com")).toBeUndefined();
});

test("Block an operation during an incident", async () => {
  const yaml = exampleOf("Block an operation during an incident").replace("2027-01-01", "2999-01-01");
  const { gateway } = await startEchoPlatform(yaml);
  const accept = "application/graphql-response+json";
  const blocked = await gateway.send('query ExpensiveReport { one(name: "x") }', { headers: { accept } });
  expect([blocked.status, blocked.body.errors[0].extensions.code]).toEqual([403, "BLOCKED"]);
  const oldApp = await gateway.send(query, { headers: { accept, "apollographql-client-name": "old-app" } });
  expect(oldApp.status).toBe(403);
  expect((await gateway.send(query, { headers: { accept } })).status).toBe(200);
});

test("Execute registered documents only", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "documents.json");
  writeFileSync(file, toBundle([{ text: query }]));
  const { gateway, sendRaw } = await startEchoPlatform(
    exampleOf("Execute registered documents only").replace("documents.json", file),
  );
  await gateway.seen("documents-loaded");
  expect((await sendRaw(query, [])).body).toEqual({ data: { one: null } });
  expect((await sendRaw(`${query} `, [])).body.errors[0].extensions.code).toBe("DOCUMENT_NOT_TRUSTED");
});

test("Send the statuses of the 2026 draft", async () => {
  const { gateway, second } = await startEchoPlatform(exampleOf("Send the statuses of the 2026 draft"));
  second.fault = (response) => response.destroy();
  const statusOf = async (text: string, accept: string) => (await gateway.send(text, { headers: { accept } })).status;
  const accept = "application/graphql-response+json";
  expect(await statusOf('{ one(name: "x") two(name: "x") }', accept)).toBe(294);
  expect([await statusOf("{ three }", accept), await statusOf("{ three }", "application/json")]).toEqual([422, 200]);
});

test("Load the supergraph from a registry", async () => {
  const subgraph = await startSubgraph({ name: "a", typeDefs: "type Query { a: Int }", resolvers: {} });
  const supergraphSdl = composeSupergraph([subgraph]);
  const paths: (string | undefined)[] = [];
  const registry = createServer((request, response) => {
    paths.push(request.url);
    const isMirror = request.url?.startsWith("/mirror/") && request.headers["x-hive-cdn-key"] === "k3y";
    response.writeHead(isMirror ? 200 : 503).end(supergraphSdl);
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "registry-"));
  onTestFinished(async () => {
    registry.close();
    registry.closeAllConnections();
    await subgraph.close();
    rmSync(folder, { recursive: true });
  });
  const { port } = registry.address() as AddressInfo;
  const lastGood = join(folder, "supergraph.graphql");
  const yaml = exampleOf("Load the supergraph from a registry")
    .replace("https://cdn.graphql-hive.com", `http://127.0.0.1:${port}/main`)
    .replace("https://cdn-mirror.graphql-hive.com", `http://127.0.0.1:${port}/mirror`)
    .replace("/var/lib/gateway/supergraph.graphql", lastGood);
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, yaml);
  const environment = { SETTINGS_FILE: file, SUPERGRAPH_FILE: "", HIVE_CDN_KEY: "k3y" };
  const gateway = await startGateway({ environment });
  onTestFinished(() => gateway.drain());
  await gateway.seen("supergraph-loaded");
  expect(paths.slice(0, 2)).toEqual(["main", "mirror"].map((name) => `/${name}/artifacts/v1/TARGET_ID/supergraph`));
  await expect.poll(() => existsSync(lastGood) && readFileSync(lastGood, "utf8")).toBe(supergraphSdl);
});
