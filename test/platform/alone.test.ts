import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type RunningGateway, startGateway } from "../../gateway/test/helpers/gateway.ts";
import { pickFreePort } from "../../kit/src/process/free-port.ts";
import { gatewaySettingsFile, type Platform, startPlatform } from "../end-to-end/platform.ts";
import { cloneRepository, removeClone } from "../start/clone.ts";
import { pickPorts, portVariables, type Started, startScript, type TestPorts } from "../start/started.ts";

// `npm start -- --only posts --against URL`, with a second instance of the platform as the remote, and `--mock`.

const query = `query ($id: ID!) { user(id: $id) { name email posts(first: 2) { title commentCount comments(first: 1) { body author { name } } }
  orders(first: 1) { total { display } lines { product { post { title } } } } } }`;

let clone: string;
beforeAll(() => {
  clone = cloneRepository();
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", clone, ...args]);
  git("init", "--quiet", "--initial-branch", "main");
  git("add", "services", "supergraph");
  git("-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "Begin");
});
afterAll(() => removeClone(clone));

describe("one service against a remote", () => {
  let remote: Platform;
  let remoteGateway: RunningGateway;
  let remotePort: number;
  let ports: TestPorts;
  let platform: Started;
  let token: string;

  const startRemoteGateway = () =>
    startGateway({
      supergraphSdl: readFileSync(new URL("../../supergraph/supergraph.graphql", import.meta.url), "utf8"),
      environment: {
        PORT: String(remotePort),
        SETTINGS_FILE: gatewaySettingsFile,
        ...Object.fromEntries(
          Object.entries(remote.services).map(([name, { url }]) => [
            `SUBGRAPH_URL_${name.toUpperCase()}`,
            `${url}/graphql`,
          ]),
        ),
      },
    });

  beforeAll(async () => {
    remote = await startPlatform(inject("postgresUrl"));
    remotePort = await pickFreePort("127.0.0.1", 0);
    remoteGateway = await startRemoteGateway();
    token = await remote.tokenOf("1");
    ports = await pickPorts();
    // What other teams are writing does not matter.
    writeFileSync(join(clone, "services/orders/schema.graphql"), "type Query {");
    const args = ["--only", "posts", "--against", `http://127.0.0.1:${remotePort}`, "--against-rest", remote.proxyUrl];
    platform = start(args, ports, { ISSUER: remote.issuer.issuer, JWKS_URL: remote.issuer.jwksUrl });
    await platform.ready();
  });

  afterAll(async () => {
    await end(platform);
    await remoteGateway.drain();
    await remote.stop();
    execFileSync("git", ["-C", clone, "checkout", "--quiet", "services"]);
  });

  test("starts, migrates and seeds only that service, and prints which services are remote", () => {
    expect(platform.output()).toMatch(/^seed +\| posts: /m);
    expect(platform.output()).not.toMatch(/^seed +\| (?:users|comments|orders): /m);
    expect(platform.output()).not.toMatch(/^(?:users|comments|orders) .*migrations applied/m);
    expect(platform.output()).toMatch(
      /the schemas of users, comments, orders(?:, [\w-]+)* are those of HEAD \(\w{10}\)/,
    );
    expect(platform.output()).toMatch(new RegExp(`users +REMOTE: http://127.0.0.1:${remotePort}/graphql`));
  });

  test("responds to a query over four services as the remote does", async () => {
    const variables = { id: "1" };
    const expected = await remote.graphql(query, { variables, token });
    expect(expected.body).toMatchObject({ data: { user: { orders: [{ total: { display: expect.any(String) } }] } } });
    expect(await send(ports, { query, variables }, token)).toEqual({ status: 200, body: expected.body });
  });

  test("forwards the caller's token, errors and mutations", async () => {
    const anonymous = await send(ports, { query, variables: { id: "1" } });
    expect(anonymous.body).toMatchObject({
      data: { user: { name: "Ada Lovelace", email: null, orders: null, posts: [{}, {}] } },
      errors: [{ extensions: { code: "UNAUTHENTICATED" } }, { extensions: { code: "UNAUTHENTICATED" } }],
    });
    const mutation = `mutation { addComment(input: { postId: 1, body: "From here" }) { comment { id author { name } post { title } } } }`;
    const { body } = await send(ports, { query: mutation }, token);
    const { comment } = body.data.addComment;
    expect(comment).toMatchObject({ author: { name: "Ada Lovelace" }, post: { title: expect.any(String) } });
    const written = await remote.graphql(`{ comment(id: ${comment.id}) { body } }`, { token });
    expect(written.body).toEqual({ data: { comment: { body: "From here" } } });
    const unknown = await send(ports, { query: "{ user(id: 999999) { name } comment(id: 999999) { body } }" });
    expect(unknown.body).toEqual({ data: { user: null, comment: null } });
  });

  test("forwards REST requests for services of the remote", async () => {
    const headers = { authorization: `Bearer ${token}` };
    const own = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v2/users/1`, { headers });
    const { body } = await remote.rest("GET", "/v2/users/1", { token });
    expect([own.status, await own.json()]).toEqual([200, body]);
    const added = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v2/comments`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ postId: "1", body: "By REST" }),
    });
    const old = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v1/users/1`, { headers });
    expect(old.headers.get("deprecation")).toMatch(/^@\d+$/);
    // A receipt of the remote would be invalid here.
    expect([added.status, added.headers.get("consistency-token")]).toEqual([201, null]);
    const location = added.headers.get("location") ?? "";
    expect((await remote.rest("GET", location)).body).toMatchObject({ body: "By REST" });
    const missing = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v2/products/none`);
    expect([missing.status, missing.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
  });

  test("responds with the data of its own service while the remote is down, and with all of it afterwards", async () => {
    const request = { query: "{ post(id: 1) { title status author { name } commentCount } user(id: 1) { name } }" };
    const whole = await send(ports, request);
    expect(whole.body.errors).toBe(undefined);
    await remoteGateway.drain();
    const partial = await send(ports, request);
    expect(partial.status).toBe(200);
    const { title, status } = whole.body.data.post;
    expect(partial.body.data).toEqual({ post: { title, status, author: null, commentCount: null }, user: null });
    const codes = partial.body.errors.map(({ extensions, path }: GraphqlError) => [path.join("."), extensions.code]);
    expect(codes.toSorted()).toEqual([
      ["post.author.name", "SUBGRAPH_UNAVAILABLE"],
      ["post.commentCount", "SUBGRAPH_UNAVAILABLE"],
      ["user", "SUBGRAPH_UNAVAILABLE"],
    ]);
    await expect.poll(() => platform.output()).toMatch(/^users .*the remote does not respond/m);
    remoteGateway = await startRemoteGateway();
    expect(await send(ports, request)).toEqual(whole);
  });

  test("prints a schema that does not compose with those of the remote, with its file, line and owner", async () => {
    const file = join(clone, "services/posts/schema.graphql");
    const sdl = readFileSync(file, "utf8");
    writeFileSync(file, sdl.replace("hasNextPage: Boolean!", "hasNextPage: String!"));
    await platform.line(/^start .*the supergraph does not compose; the last valid one remains in use/);
    expect(await platform.line(/^start .*services\/posts\/schema\.graphql:\d+/)).toContain("@tributary/posts-team");
    writeFileSync(file, sdl);
    await platform.line(/^start .*the supergraph composes again/);
  });
});

test("mocks respond to the same query with the same bytes, with saved fields, and not to REST requests", async () => {
  const ports = await pickPorts();
  const platform = start(["--only", "gateway", "--mock", "users,posts,comments,orders"], ports, {});
  try {
    await platform.ready();
    const variables = { id: "7" };
    const first = await send(ports, { query, variables });
    expect(first.body.errors).toBe(undefined);
    expect(first.body.data.user.name).toEqual(expect.any(String));
    expect((await send(ports, { query, variables })).text).toBe(first.text);
    expect(platform.output()).toMatch(/orders +MOCK/);
    expect(platform.output()).not.toContain("PostgreSQL");
    appendFileSync(join(clone, "services/users/schema.graphql"), "\nextend type User {\n  nickname: String!\n}\n");
    const nickname = () =>
      send(ports, { query: "{ user(id: 7) { nickname } }" }).then(({ body }) => body.data?.user.nickname);
    await expect.poll(nickname).toEqual(expect.any(String));
    const rest = await fetch(`http://127.0.0.1:${ports["rest-proxy"]}/v2/users/1`);
    // An example of the OpenAPI document.
    expect([rest.status, await rest.json()]).toEqual([
      200,
      expect.objectContaining({ id: "1", name: expect.any(String) }),
    ]);
  } finally {
    await end(platform);
  }
});

interface GraphqlError {
  readonly path: readonly (string | number)[];
  readonly extensions: { readonly code: string };
}

interface GatewayResponse {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
  readonly body: any;
  readonly text?: string;
}

function start(args: readonly string[], ports: TestPorts, variables: Readonly<Record<string, string>>): Started {
  return startScript(join(clone, "scripts/start.ts"), args, join(clone, ".data"), {
    ...portVariables(ports),
    ...variables,
  });
}

async function send(ports: TestPorts, request: object, token?: string): Promise<GatewayResponse> {
  const response = await fetch(`http://127.0.0.1:${ports.gateway}/graphql`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(request),
  });
  const text = await response.text();
  const result = { status: response.status, body: JSON.parse(text) };
  Object.defineProperty(result, "text", { value: text });
  return result;
}

async function end(platform: Started): Promise<void> {
  platform.child.kill("SIGTERM");
  await platform.exited();
}
