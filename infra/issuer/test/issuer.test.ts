import { spawn } from "node:child_process";
import { once } from "node:events";
import { createAuthenticator } from "@tributary/kit/identity/tokens";
import { type RunningServer, startServer } from "@tributary/kit/process/lifecycle";
import { silentLog } from "@tributary/kit/process/log";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../src/app.ts";
import { openSigningKey } from "../src/signing-key.ts";

const issuer = "http://127.0.0.1:4020";
const audience = "tributary";
const usual = "users:write posts:write comments:write orders:read orders:write";
let server: RunningServer;

beforeAll(async () => {
  const key = await openSigningKey(undefined);
  server = await startServer({
    name: "issuer",
    handler: createApp({ issuer, audience, key, log: silentLog }),
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    close: async () => {},
    drainDelayMs: 0,
    shutdownGraceMs: 100,
  });
});
afterAll(() => server.drain());

test("a token verifies with the published keys, and has the user, the scopes and the lifetime", async () => {
  const { access_token: token, ...rest } = await readJson(await requestToken(form("user=ada")));
  expect(rest).toEqual({ token_type: "Bearer", expires_in: 3_600, scope: usual });
  const { payload } = await jwtVerify(token, publishedKeys(), { issuer, audience, algorithms: ["ES256"] });
  expect(payload).toMatchObject({ iss: issuer, aud: audience, sub: "1", scope: usual });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
  expect(payload.jti).toMatch(/^[0-9a-f-]{36}$/);
  expect(decodeProtectedHeader(token).kid).toBe((await keys())[0].kid);
});

test("the services' authenticator accepts a token and identifies its user", async () => {
  const authenticate = createAuthenticator({ issuer, audience, jwksUrl: jwksUrl(), userIdClaim: "sub" });
  const { access_token: token } = await readJson(await requestToken(json({ user: "grace", scope: "orders:read" })));
  const identity = await authenticate(`Bearer ${token}`);
  expect(identity).toEqual({ kind: "user", userId: "2", scopes: new Set(["orders:read"]) });
});

test("expires_in sets the lifetime of the token", async () => {
  const { access_token: token } = await readJson(await requestToken(json({ user: "9", expires_in: 5 })));
  const { iat = 0, exp = 0, sub } = decodeJwt(token);
  expect([sub, exp - iat]).toEqual(["9", 5]);
});

test("no two tokens are the same", async () => {
  const [one, two] = await Promise.all([
    readJson(await requestToken(form("user=1"))),
    readJson(await requestToken(form("user=1"))),
  ]);
  expect(one.access_token).not.toBe(two.access_token);
});

test("the discovery document has the URLs of the keys and of the token endpoint", async () => {
  const response = await fetch(`${server.url}/.well-known/openid-configuration`);
  expect(await response.json()).toMatchObject({
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    token_endpoint: `${issuer}/token`,
    id_token_signing_alg_values_supported: ["ES256"],
  });
});

test("the published keys contain no private key", async () => {
  expect(await keys()).toEqual([
    {
      kty: "EC",
      crv: "P-256",
      alg: "ES256",
      use: "sig",
      x: expect.any(String),
      y: expect.any(String),
      kid: expect.any(String),
    },
  ]);
});

test("GET /demo-users lists the demo users with their names, ids and default scopes", async () => {
  const { demoUsers } = await readJson(await fetch(`${server.url}/demo-users`));
  expect(demoUsers.map((member: { name: string; userId: string }) => `${member.name} ${member.userId}`)).toEqual([
    "ada 1",
    "grace 2",
    "linus 3",
    "ops 4",
  ]);
  expect(demoUsers[0].scopes.join(" ")).toBe(usual);
  expect(demoUsers[3].scopes).toContain("users:read:private");
  expect(demoUsers[3].scopes).toHaveLength(12);
});

test.each([
  ["no body", { method: "POST" }, "invalid_request"],
  ["an unknown name", form("user=bob"), "invalid_request"],
  ["a name twice", form("user=ada&user=grace"), "invalid_request"],
  ["a bad scope", json({ user: "ada", scope: 7 }), "invalid_scope"],
  ["broken JSON", { method: "POST", headers: { "content-type": "application/json" }, body: "{" }, "invalid_request"],
  ["JSON null", json(null), "invalid_request"],
  ["plain text", { method: "POST", headers: { "content-type": "text/plain" }, body: "user=ada" }, "invalid_request"],
  [
    "an odd charset",
    { ...form("user=ada"), headers: { "content-type": "application/x-www-form-urlencoded; charset=x" } },
    "invalid_request",
  ],
])("%s gets 400 and a JSON error", async (_name, request, code) => {
  const response = await requestToken(request);
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(await response.json()).toEqual({ error: code, error_description: expect.stringMatching(/^[A-Z][^"\\]*\.$/) });
});

test.each([`user=ada&scope=${"a".repeat(5_000)}`, "a=1&".repeat(20)])(
  "a body of more than 4 KiB or 10 fields gets 413",
  async (body) => {
    const response = await requestToken(form(body));
    expect([response.status, (await readJson(response)).error]).toEqual([413, "invalid_request"]);
  },
);

test("token responses have Cache-Control: no-store", async () => {
  expect((await requestToken(form("user=ada"))).headers.get("cache-control")).toBe("no-store");
});

test("another method gets 405, another path 404", async () => {
  const get = await fetch(`${server.url}/token`);
  expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  const post = await fetch(`${server.url}/demo-users`, { method: "POST" });
  expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await fetch(`${server.url}/tokens`)).status).toBe(404);
});

test.each(["http://localhost:4000", "http://127.0.0.1:5173", "http://[::1]:4000", "http://localhost"])(
  "CORS allows a page at %s to read the response",
  async (origin) => {
    const response = await requestToken({ ...form("user=ada"), headers: { ...form("").headers, origin } });
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    const preflight = await fetch(`${server.url}/token`, { method: "OPTIONS", headers: { origin } });
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "content-type"]);
  },
);

test.each(["https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example:80", "null"])(
  "CORS does not allow a page at %s to read the response",
  async (origin) => {
    const response = await requestToken({ ...form("user=ada"), headers: { ...form("").headers, origin } });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("vary")).toBe("Origin");
  },
);

test("the process refuses to start with PROFILE=production and reports the reason", async () => {
  const { code, stderr } = await runMain({ PROFILE: "production", PORT: "0" });
  expect(code).toBe(1);
  expect(stderr).toContain("PROFILE=production: this issuer issues tokens to any client without authentication");
});

async function runMain(environment: Record<string, string>): Promise<{ code: number; stderr: string }> {
  const main = new URL("../src/main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main], { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number];
  return { code, stderr };
}

function requestToken(request: RequestInit): Promise<Response> {
  return fetch(`${server.url}/token`, request);
}

function form(body: string) {
  return { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body };
}

function json(body: unknown) {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read single fields of responses
async function readJson(response: Response): Promise<any> {
  return response.json();
}

async function keys() {
  return (await readJson(await fetch(jwksUrl()))).keys;
}

function publishedKeys() {
  return createRemoteJWKSet(new URL(jwksUrl()));
}

function jwksUrl(): string {
  return `${server.url}/.well-known/jwks.json`;
}
