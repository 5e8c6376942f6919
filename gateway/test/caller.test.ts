import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { readGraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

const query = "{ whoAmI }";
const modern = { accept: "application/graphql-response+json" };

let library: Library;
let issuer: TestIssuer;
beforeAll(async () => {
  [library, issuer] = await Promise.all([startLibrary(), startTestIssuer()]);
});
afterAll(async () => {
  await Promise.all([library.close(), issuer.stop()]);
});

describe.each(["true", "false"])("with FAST_PATH=%s", (fastPath) => {
  let gateway: RunningGateway;
  beforeEach(async () => {
    gateway = await start({ FAST_PATH: fastPath });
    // The fast path takes operations that were validated before.
    await gateway.send(query);
    for (const { requests } of library.all) requests.length = 0;
  });
  afterEach(() => gateway.drain());

  const sent = () => library.all.flatMap(({ requests }) => requests).length;

  test("an invalid token is a 401 for every media type, and nothing is fetched", async () => {
    const expired = await issuer.token("1", [], { exp: Math.floor(Date.now() / 1_000) - 60 });
    const rejected = {
      status: 401,
      body: { errors: [{ message: "The token has expired.", extensions: { code: "UNAUTHENTICATED" } }] },
    };
    for (const headers of [{}, modern, {}]) {
      const response = await gateway.send(query, { headers: { ...headers, authorization: `Bearer ${expired}` } });
      expect(response).toMatchObject(rejected);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="tributary", error="invalid_token"');
    }
    expect(await gateway.send(query, { headers: { authorization: "Basic YTpi" } })).toMatchObject({ status: 401 });
    expect(await get({ authorization: `Bearer ${expired}` })).toMatchObject(rejected);
    expect(sent()).toBe(0);
  });

  test("an invalid token is rejected before the document is parsed", async () => {
    const response = await gateway.send("{ unknown {", { headers: { authorization: "Bearer broken" } });
    expect([response.status, response.body.errors[0].extensions.code]).toEqual([401, "UNAUTHENTICATED"]);
  });

  test("a valid token is forwarded to the subgraph, at its first use and later", async () => {
    const authorization = `Bearer ${await issuer.token("1")}`;
    const forwarded = { status: 200, body: { data: { whoAmI: authorization } } };
    for (let count = 0; count < 2; count++)
      expect(await gateway.send(query, { headers: { authorization } })).toMatchObject(forwarded);
    expect(await get({ authorization })).toMatchObject(forwarded);
  });

  test("a body that is too large is rejected also while its token is verified", async () => {
    const authorization = `Bearer ${await issuer.token("1")}`;
    const response = await gateway.send(`{ whoAmI } #${"x".repeat(2_000)}`, { headers: { authorization } });
    expect(response.status).toBe(413);
  });

  async function get(headers: Readonly<Record<string, string>>) {
    const url = `${gateway.url}/graphql?query=${encodeURIComponent(query)}`;
    return readGraphqlResponse(await fetch(url, { headers: { "apollo-require-preflight": "1", ...headers } }));
  }
});

test("while the issuer's keys cannot be fetched, a token is a 503 with Retry-After, and anonymous requests are served", async () => {
  const gateway = await start({ JWKS_URL: "http://127.0.0.1:1/jwks" });
  const headers = { authorization: `Bearer ${await issuer.token("1")}` };
  const response = await gateway.send(query, { headers });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(response.body.errors[0].extensions.code).toBe("SERVICE_UNAVAILABLE");
  expect((await gateway.send(query)).status).toBe(200);
  const kinds = gateway.observations.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["token-keys-fetched", "token-keys-failed"]));
  await gateway.drain();
});

test("without JWKS_URL the gateway verifies no token", async () => {
  const gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
  const headers = { authorization: "Bearer broken" };
  expect(await gateway.send(query, { headers })).toMatchObject({ body: { data: { whoAmI: "Bearer broken" } } });
  await gateway.drain();
});

function start(environment: Readonly<Record<string, string>> = {}) {
  const identity = { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl };
  const bounds = { GRAPHQL_BODY_BYTES_MAX: "2000" };
  return startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { ...identity, ...bounds, ...environment },
  });
}
