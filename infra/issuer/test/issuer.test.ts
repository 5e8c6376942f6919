import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthenticator } from "@tributary/kit/identity/token-verifier";
import { describeEnvironment } from "@tributary/kit/process/env";
import { type RunningServer, startServer } from "@tributary/kit/process/lifecycle";
import { silentLog } from "@tributary/kit/process/log";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, createLocalJWKSet, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test, onTestFinished } from "vitest";
import { createApp } from "../src/app.ts";
import { readConfig } from "../src/config.ts";
import { knownScopes, defaultScopes } from "../src/demo-users.ts";
import { openSigningKey, type SigningKey } from "../src/signing-key.ts";
import { readTokenRequest, TokenRequestError } from "../src/token-request.ts";

const issuer = "http://127.0.0.1:4020";
const audience = "tributary";
const defaultScopeText = defaultScopes.join(" ");
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
  const response = await requestToken(form("user=ada"));
  expect(response.headers.get("cache-control")).toBe("no-store");
  const { access_token: token, ...rest } = await readJson(response);
  expect(rest).toEqual({ token_type: "Bearer", expires_in: 3_600, scope: defaultScopeText });
  const { payload } = await jwtVerify(token, publishedKeys(), { issuer, audience, algorithms: ["ES256"] });
  expect(payload).toMatchObject({ iss: issuer, aud: audience, sub: "1", scope: defaultScopeText });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
  expect(payload.jti).toMatch(/^[0-9a-f-]{36}$/);
  expect(decodeProtectedHeader(token).kid).toBe((await keys())[0].kid);
});

test("the services' authenticator accepts a token with the requested user, scopes and lifetime", async () => {
  const authenticate = createAuthenticator({ issuer, audience, jwksUrl: jwksUrl(), userIdClaim: "sub" });
  const { access_token: token } = await readJson(
    await requestToken(json({ user: "grace", scope: "orders:read", expires_in: 5 })),
  );
  const identity = await authenticate(`Bearer ${token}`);
  expect(identity).toEqual({ kind: "user", userId: "2", scopes: new Set(["orders:read"]) });
  const { iat = 0, exp = 0 } = decodeJwt(token);
  expect(exp - iat).toBe(5);
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
  expect(demoUsers[0].scopes.join(" ")).toBe(defaultScopeText);
  expect(demoUsers[3].scopes).toContain("users:read:private");
  expect(demoUsers[3].scopes).toEqual(knownScopes);
});

test.each([
  ["no body", { method: "POST" }, "invalid_request"],
  ["a name twice", form("user=ada&user=grace"), "invalid_request"],
  ["a bad scope", json({ user: "ada", scope: 7 }), "invalid_scope"],
  ["broken JSON", { method: "POST", headers: { "content-type": "application/json" }, body: "{" }, "invalid_request"],

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

test("another method gets 405, another path 404", async () => {
  const get = await fetch(`${server.url}/token`);
  expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  const post = await fetch(`${server.url}/demo-users`, { method: "POST" });
  expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await fetch(`${server.url}/tokens`)).status).toBe(404);
});

test("CORS allows pages of this machine to read the responses, and no others", async () => {
  const local = ["http://localhost:4000", "http://127.0.0.1:5173", "http://[::1]:4000", "http://localhost"];
  const others = ["https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example:80", "null"];
  for (const origin of [...local, ...others]) {
    const { headers } = await requestToken({ ...form("user=ada"), headers: { ...form("").headers, origin } });
    const allowed = local.includes(origin) ? origin : null;
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([allowed, "Origin"]);
  }
  const headers = { origin: "http://localhost:4000" };
  const preflight = await fetch(`${server.url}/token`, { method: "OPTIONS", headers });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "content-type"]);
});

test("PROFILE=production is an invalid configuration", () => {
  expect(() => readConfig({ PROFILE: "production" })).toThrow("issues tokens to any client without authentication");
});

test("the process refuses to start with PROFILE=production and reports the reason", async () => {
  const { code, stderr } = await runMain({ PROFILE: "production", PORT: "0" });
  expect(code).toBe(1);
  expect(stderr).toContain("PROFILE=production: this issuer issues tokens to any client without authentication");
});

async function runMain(environment: Record<string, string>): Promise<{ code: number; stderr: string }> {
  const main = new URL("../src/main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main], { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
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

test("every variable has a default", () => {
  expect(readConfig({})).toMatchObject({ port: 4020, issuer: "http://127.0.0.1:4020", audience: "tributary" });
  expect(readConfig({}).keyFile).toBeUndefined();
});

test("the README's table lists every variable with its default and range", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(expectReadmeTable(readme, describeEnvironment(readConfig))).toEqual([]);
});

test.each([
  ["Grace", "2"],
  ["3", "3"],
  ["77", "77"],
  [77, "77"],
])("the user %j gets the default scopes for an hour", (user, userId) => {
  expect(readTokenRequest({ user })).toEqual({ userId, scopes: defaultScopes, ttlSeconds: 3_600 });
});

test("ops gets every scope", () => {
  expect(readTokenRequest({ user: "ops" })).toEqual({ userId: "4", scopes: knownScopes, ttlSeconds: 3_600 });
});

test("scopes and lifetime are read from a form and from JSON", () => {
  const expected = { userId: "1", scopes: ["orders:read", "x"], ttlSeconds: 86_400 };
  expect(readTokenRequest({ user: "ada", scope: "orders:read x", expires_in: "86400" })).toEqual(expected);
  expect(readTokenRequest({ user: "ada", scope: "orders:read x", expires_in: 86_400 })).toEqual(expected);
  expect(readTokenRequest({ user: "ada", expires_in: 1 }).ttlSeconds).toBe(1);
  expect(readTokenRequest({ user: "ada", scope: "" }).scopes).toEqual([]);
});

test.each<unknown>([
  null,
  "ada",
  [],
  {},
  { user: "0" },
  { user: 1.5 },
  { user: ["ada", "grace"] },
  { user: "__proto__" },
  { user: "ada", subject: "2" },
  { user: "ada", scope: 'a"b' },
  { user: "ada", scope: "a  b" },

  { user: "ada", scope: "a".repeat(1_001) },
  { user: "ada", scope: ["a"] },
  { user: "ada", expires_in: 0 },
  { user: "ada", expires_in: 86_401 },
  { user: "ada", expires_in: "1e3" },
  { user: "ada", expires_in: null },
])("the token request %j is rejected", (body) => {
  expect(() => readTokenRequest(body)).toThrow(TokenRequestError);
});

test("the error for an unknown user lists the demo users", () => {
  expect(() => readTokenRequest({ user: "bob" })).toThrow("one of ada, grace, linus, ops, or a user id");
});

test("without a file each start generates a new key", async () => {
  const [one, two] = await Promise.all([openSigningKey(undefined), openSigningKey(undefined)]);
  expect(one.publicJwk.kid).not.toBe(two.publicJwk.kid);

  await expect(verifyWith(await signWith(one), one)).resolves.toBeDefined();
  await expect(verifyWith(await signWith(one), two)).rejects.toThrow();
});

test("a key in a file survives a restart, and only its owner may read the file", async () => {
  const keyFile = join(temporaryFolder(), "deeper", "key.json");
  const first = await openSigningKey(keyFile);
  const second = await openSigningKey(keyFile);
  expect(second.publicJwk).toEqual(first.publicJwk);
  await expect(verifyWith(await signWith(first), second)).resolves.toBeDefined();
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(keyFile, ".."))).toEqual(["key.json"]);
});

test.each(["", "{}", '{"kty":"EC","crv":"P-256","d":"AA","x":"AA","y":"AA"}'])(
  "a key file that contains %j is named in the error, and not changed",
  async (content) => {
    const keyFile = join(temporaryFolder(), "key.json");
    writeFileSync(keyFile, content);
    await expect(openSigningKey(keyFile)).rejects.toThrow(`KEY_FILE=${keyFile} contains no signing key`);
    expect(readFileSync(keyFile, "utf8")).toBe(content);
  },
);

test("a key file that cannot be read is named in the error", async () => {
  const folder = temporaryFolder();
  await expect(openSigningKey(folder)).rejects.toThrow(`KEY_FILE=${folder} cannot be read`);
});

function signWith({ privateKey, publicJwk }: SigningKey): Promise<string> {
  return new SignJWT().setProtectedHeader({ alg: "ES256", kid: publicJwk.kid }).sign(privateKey);
}

function verifyWith(token: string, { publicJwk }: SigningKey) {
  return jwtVerify(token, createLocalJWKSet({ keys: [publicJwk] }));
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
