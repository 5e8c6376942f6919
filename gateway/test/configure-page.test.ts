import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { startGateway } from "./helpers/gateway.ts";
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
    "Allow another origin",
    "Block an operation during an incident",
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
