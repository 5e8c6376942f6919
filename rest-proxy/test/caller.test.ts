import { hash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import type { CallerConfig } from "@tributary/kit/caller/caller-config";
import { startTestIssuer } from "@tributary/kit/testing/issuer";
import { noRateLimits, plainCallerConfig, route, startProxy, startStub } from "./testing.ts";

// Who sends a request: tokens, client keys and limits by caller.

test("a cached public response is not sent for an invalid token, and nothing is fetched", async () => {
  const { url, issuer, requests } = await start();
  expect((await read(url)).status).toBe(200);
  const expired = await issuer.token("1", [], { exp: Math.floor(Date.now() / 1_000) - 60 });
  // The second response comes from the cache of rejected tokens.
  for (let count = 0; count < 2; count++) {
    const response = await read(url, expired);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="tributary", error="invalid_token"');
    expect(await response.json()).toMatchObject({
      type: "/problems/unauthenticated",
      detail: "The token has expired.",
    });
  }
  expect((await read(url, "broken")).status).toBe(401);
  expect(requests()).toBe(1);
});

test("a cached public response is sent for a valid token, at its first use and later", async () => {
  const { url, issuer, requests } = await start();
  await read(url);
  const token = await issuer.token("1");
  expect((await read(url, token)).headers.get("cache-status")).toContain("hit");
  expect((await read(url, token)).headers.get("cache-status")).toContain("hit");
  expect(requests()).toBe(1);
});

test("a write with an invalid token is a 401 with CORS headers and does not reach the service", async () => {
  const { url, requests } = await start();
  const headers = {
    authorization: "Bearer broken",
    origin: "http://localhost:3000",
    "content-type": "application/json",
  };
  const response = await fetch(`${url}/v1/things`, { method: "POST", body: "{}", headers });
  expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([401, headers.origin]);
  expect(requests()).toBe(0);
});

test("while the issuer's keys cannot be fetched, a token is a 503 with Retry-After, and anonymous requests are served", async () => {
  const { url, issuer, observed } = await start({ jwksUrl: "http://127.0.0.1:1/jwks" });
  const response = await read(url, await issuer.token("1"));
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await read(url)).status).toBe(200);
  const kinds = observed.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["token-keys-fetched", "token-keys-failed"]));
});

test("a user has one limit from every address, and another user of the same address has another", async () => {
  const { url, issuer } = await start({}, 2);
  const [ada, grace] = [await issuer.token("1"), await issuer.token("2")];
  const from = (address: string, token: string) => read(url, token, { "x-forwarded-for": address });
  expect((await from("192.0.2.1", ada)).status).toBe(200);
  expect((await from("192.0.2.2", ada)).status).toBe(200);
  expect((await from("192.0.2.3", ada)).status).toBe(429);
  expect((await from("192.0.2.1", grace)).status).toBe(200);
});

test("requests with invalid tokens count towards the limit of their address", async () => {
  const { url } = await start({}, 2);
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++) statuses.push((await read(url, `broken${count}`)).status);
  expect(statuses).toEqual([401, 401, 429]);
});

test("a client key has a limit of its own, and a claimed name has not", async () => {
  const { url } = await start({}, 1);
  const claim = { "x-client-name": "web" };
  expect((await read(url, undefined, claim)).status).toBe(200);
  expect((await read(url, undefined, { "x-client-name": "another" })).status).toBe(429);
  expect((await read(url, undefined, { "x-client-key": "web-key" })).status).toBe(200);
  expect((await read(url, undefined, { "x-client-key": "web-key" })).status).toBe(429);
});

function read(url: string, token?: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(`${url}/v1/things/1`, { headers: { ...authorization, ...headers } });
}

/** A proxy that verifies tokens, and trusts X-Forwarded-For of this machine. */
async function start(tokens: Partial<CallerConfig["tokens"]> = {}, perMinute = 0) {
  const issuer = await startTestIssuer();
  onTestFinished(() => issuer.stop());
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "public, max-age=1000");
    response.end('{"ok":true}');
  });
  const proxy = await startProxy(stub, {
    routes: [route("getThing", "GET", "/things/:id", { cache: "public" }), route("addThing", "POST", "/things", {})],
    rateLimitConfig: { ...noRateLimits, readsPerMinute: perMinute },
    callerConfig: {
      ...plainCallerConfig,
      trustedProxies: ["127.0.0.1"],
      tokens: { ...issuer, userIdClaim: "sub", ...tokens },
      clientKeys: [{ name: "web", sha256: hash("sha256", "web-key") }],
    },
  });
  return { ...proxy, issuer, requests: () => stub.received.length };
}
