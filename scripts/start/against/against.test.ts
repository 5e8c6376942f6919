import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { probeRemote } from "./remote-probe.ts";
import { discoverRemote } from "./remote-link.ts";
import { prepareSchemaSources, remoteSchemaFiles } from "./schema-sources.ts";

const json = { "content-type": "application/json" };

test("a probe of a gateway finds the issuer of its tokens by discovery", async () => {
  const url = await startRemote();
  const jwksUrl = `${url}/keys`;
  expect(await probeRemote(`${url}/graphql`, {})).toEqual({
    kind: "up",
    issuer: { issuer: "the-issuer", jwksUrl, url },
  });
  const named = { ISSUER: "i", JWKS_URL: "http://keys.example" };
  expect(await probeRemote(`${url}/graphql`, named)).toEqual({ kind: "up", issuer: undefined });
});

test.each([
  [
    "another path",
    { "/graphql": [404, "<h1>Not found</h1>"] },
    /not the GraphQL endpoint of a Tributary gateway \(status 404/,
  ],
  [
    "a production gateway",
    { "/graphiql/config.json": [200, '{"issuer":null}'] },
    /does not name the issuer.*set ISSUER and JWKS_URL/,
  ],
  ["another GraphQL server", { "/graphiql/config.json": [404, ""] }, /status 404.*set ISSUER and JWKS_URL/],
  ["another issuer", { "/.well-known/openid-configuration": [200, "{}"] }, /describes no token issuer/],
] as const)("%s is an error that says what to do", async (_name, routes, message) => {
  const url = await startRemote(routes);
  await expect(probeRemote(`${url}/graphql`, {})).rejects.toThrow(message);
});

test("a remote that does not respond is down, and so is one behind a load balancer without a gateway", async () => {
  const port = await pickFreePort("127.0.0.1");
  expect(await probeRemote(`http://127.0.0.1:${port}/graphql`, {})).toEqual({
    kind: "down",
    cause: expect.stringContaining("ECONNREFUSED"),
  });
  const url = await startRemote({ "/graphql": [503, "No server is available."] });
  expect(await probeRemote(`${url}/graphql`, {})).toEqual({ kind: "down", cause: "status 503" });
});

test("a remote that was down at the start is probed until it responds; then the parts restart with its issuer", async () => {
  const port = await pickFreePort("127.0.0.1");
  const { signal } = new AbortController();
  const link = await discoverRemote(
    { graphqlUrl: `http://127.0.0.1:${port}/graphql`, restUrl: undefined },
    { environment: {}, signal },
  );
  expect(link.issuer()).toBe(undefined);
  const restarts: string[] = [];
  const lines: string[] = [];
  const restart = async (cause: string) => restarts.push(cause) > 0;
  const watching = link.watch([{ restart }], (line) => lines.push(line));
  await startRemote({}, port);
  await watching;
  expect(link.issuer()).toMatchObject({ issuer: "the-issuer" });
  expect(lines).toEqual([
    expect.stringMatching(/^WARNING: the remote \S+ does not respond/),
    expect.stringMatching(/responds now$/),
  ]);
  expect(restarts).toEqual([expect.stringContaining("issuer")]);
});

test("the schemas of the remote's services are those of git, the others those on disk", () => {
  const { root, dataDir, write, git } = createRepository();
  git("init", "--quiet", "--initial-branch", "main");
  git("add", ".");
  git("-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "Begin");
  for (const name of ["users", "posts", "comments", "orders"]) write(`services/${name}/schema.graphql`, "# unfinished");
  const lines: string[] = [];
  const substitutes = new Map([["users", "remote"] as const, ["orders", "mock"] as const]);
  const print = (_: string, line: string) => lines.push(line);
  const readSources = prepareSchemaSources({ root, dataDir, substitutes, print });
  const sdlByName = () => Object.fromEntries(readSources().map(({ name, sdl }) => [name, sdl]));
  const unfinished = "# unfinished";
  expect(sdlByName()).toEqual({ users: "# users", posts: unfinished, comments: unfinished, orders: unfinished });
  write("services/posts/schema.graphql", "# saved");
  expect(sdlByName()).toMatchObject({ users: "# users", posts: "# saved" });
  const files = remoteSchemaFiles(dataDir);
  expect([readFileSync(files.of("users"), "utf8"), readFileSync(files.api, "utf8")]).toEqual(["# users", "# api"]);
  expect(lines).toEqual([expect.stringMatching(/^the schemas of users are those of HEAD \(\w{10}\)$/)]);
});

test("without git, or for a service that main does not have, the schemas on disk are used, with a line that says so", () => {
  const { root, dataDir, git } = createRepository();
  const lines: string[] = [];
  const print = (_: string, line: string) => lines.push(line);
  const options = { root, dataDir, substitutes: new Map([["users", "remote"] as const]), print };
  expect(prepareSchemaSources(options)()[0]?.sdl).toBe("# users");
  expect(lines.splice(0)).toEqual(["no git repository: the schemas of the remote's services are those on disk"]);
  git("init", "--quiet", "--initial-branch", "main");
  git("add", "supergraph");
  git("-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "Begin");
  expect(prepareSchemaSources(options)()[0]?.sdl).toBe("# users");
  expect(lines[0]).toBe("services/users/schema.graphql is not in HEAD: the file on disk is used");
  rmSync(join(root, "services/users/schema.graphql"));
  expect(() => prepareSchemaSources(options)).toThrow("services/users/schema.graphql is neither on disk nor in HEAD.");
});

type Routes = Readonly<Record<string, readonly [status: number, body: string]>>;

/** A gateway with the endpoints that a probe uses, and its issuer. */
async function startRemote(routes: Routes = {}, port = 0): Promise<string> {
  let url = "";
  const respond: RequestListener = (request, response) => {
    const known: Routes = {
      "/graphql": [200, '{"data":{"__typename":"Query"}}'],
      "/graphiql/config.json": [200, JSON.stringify({ issuer: url })],
      "/.well-known/openid-configuration": [200, JSON.stringify({ issuer: "the-issuer", jwks_uri: `${url}/keys` })],
      ...routes,
    };
    const [status, body] = known[request.url ?? ""] ?? [404, ""];
    response.writeHead(status, json).end(body);
  };
  const server = createServer(respond);
  onTestFinished(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
}

/** The schemas of a repository, without git. */
function createRepository() {
  const root = mkdtempSync(join(tmpdir(), "tributary-against-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  for (const name of ["users", "posts", "comments", "orders"]) write(`services/${name}/schema.graphql`, `# ${name}`);
  write("supergraph/api.graphql", "# api");
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", root, ...args]);
  return { root, dataDir: join(root, ".data"), write, git };
}
