import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { SignJWT } from "jose";
import { createAuthenticator, createTokenVerifier } from "./token-verifier.ts";
import { type Identity, hasScope, isUser, denyAccess, requireAnyScope, requireUser } from "./tokens.ts";
import { startTestIssuer, type TestIssuer } from "../testing/issuer.ts";
import { createSpanCollector } from "../testing/trace.ts";

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startTestIssuer();
});
afterAll(() => issuer.stop());

test("a request without a token is anonymous", async () => {
  expect(await authenticator()(undefined)).toEqual({ kind: "anonymous" });
});

test("a token names its user and scopes", async () => {
  const identity = await authenticator()(`Bearer ${await issuer.token("1", ["posts:write", "orders:read"])}`);
  expect(identity).toEqual({ kind: "user", userId: "1", scopes: new Set(["posts:write", "orders:read"]) });
});

test("the user's id may be in another claim, and a number", async () => {
  const authenticate = createAuthenticator({ ...issuer, userIdClaim: "uid" });
  expect(await authenticate(`Bearer ${await issuer.token("x", [], { uid: 7 })}`)).toMatchObject({ userId: "7" });
});

test("a token without a required claim, or for another audience, is rejected", async () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims: Readonly<Record<string, unknown>>[] = [
    { exp: undefined },
    { exp: nowSeconds - 60 },
    { nbf: nowSeconds + 600 },
    { aud: "another" },
    { aud: undefined },
    { iss: "https://elsewhere.example" },
    { sub: undefined },
    { sub: "../1" },
    { sub: "0" },
    { sub: "01" },
    { sub: true },
    // JSON.parse has rounded the number: it may be another user's id.
    { sub: 2 ** 53 },
  ];
  for (const claim of claims)
    expect([claim, await refusal(await issuer.token("1", [], claim))]).toEqual([claim, "UNAUTHENTICATED"]);
});

test("a token that never expires is rejected, also one whose number overflows", async () => {
  for (const exp of ["1e400", "1e306", '"4102444800"', "null"])
    expect([exp, await refusal(signJson(`{"alg":"ES256"}`, exp))]).toEqual([exp, "UNAUTHENTICATED"]);
});

test("a token of another type is rejected: only access tokens are accepted (RFC 8725, 3.11)", async () => {
  const nextHour = String(Math.floor(Date.now() / 1000) + 3_600);
  const codeOf = async (typ: string) => refusal(signJson(`{"alg":"ES256","typ":${typ}}`, nextHour));
  for (const typ of ['"JWT"', '"jwt"', '"at+jwt"', '"application/at+jwt"'])
    expect([typ, await codeOf(typ)]).toEqual([typ, "accepted"]);
  for (const typ of ['"logout+jwt"', '"dpop+jwt"', '"id_token"', '"secevent+jwt"', '""', "null", "[]"])
    expect([typ, await codeOf(typ)]).toEqual([typ, "UNAUTHENTICATED"]);
});

test("a token without signature, or signed with a shared secret or a key from its header, is rejected", async () => {
  const body = { iss: issuer.issuer, aud: issuer.audience, sub: "1", exp: Math.floor(Date.now() / 1000) + 60 };
  const shared = await new SignJWT(body)
    .setProtectedHeader({ alg: "HS256", kid: "test" })
    .sign(new TextEncoder().encode("x".repeat(32)));
  const none = `${encode({ alg: "none" })}.${encode(body)}.`;
  const other = await startTestIssuer();
  const foreign = await other.token("1", [], { iss: issuer.issuer });
  const pointing = `${encode({ alg: "ES256", kid: "../../etc/passwd", jku: other.jwksUrl })}.${encode(body)}.${"A".repeat(86)}`;
  await other.stop();
  for (const token of [shared, none, foreign, pointing]) expect(await refusal(token)).toBe("UNAUTHENTICATED");
});

test("an Authorization header without a bearer token is rejected", async () => {
  for (const header of ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b", `Bearer ${"a".repeat(9_000)}`]) {
    await expect(authenticator()(header)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  }
});

test("keys that cannot be fetched are a 503, not a 401", async () => {
  const token = await issuer.token("1");
  for (const jwksUrl of ["http://127.0.0.1:1/jwks", await brokenKeys()]) {
    await expect(
      createAuthenticator({ ...issuer, jwksUrl, userIdClaim: "sub" })(`Bearer ${token}`),
    ).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
    });
  }
});

test("an issuer that fails is asked once a second, however many tokens arrive", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const failing = createServer((_, response) => {
    asked++;
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => failing.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void failing.close());
  const jwksUrl = `http://127.0.0.1:${(failing.address() as AddressInfo).port}/jwks`;
  const authenticate = createAuthenticator({ ...issuer, jwksUrl, userIdClaim: "sub" });
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token("1")));
  const sendAll = async () => {
    for (const token of tokens)
      await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  };
  await sendAll();
  expect(asked).toBe(1);
  vi.setSystemTime(Date.now() + 1_000);
  await sendAll();
  expect(asked).toBe(2);
});

test("a 200 without a key set, as of a maintenance page, is a failed fetch", async () => {
  let body = "";
  const issuing = createServer((_, response) => void response.end(body));
  await new Promise<void>((resolve) => issuing.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void issuing.close());
  const jwksUrl = `http://127.0.0.1:${(issuing.address() as AddressInfo).port}/jwks`;
  const token = `Bearer ${await issuer.token("1")}`;
  const fetched: boolean[] = [];
  const onKeysFetched = (isOk: boolean) => void fetched.push(isOk);
  for (body of ["<html>maintenance</html>", "{}", "null", '{"keys":"none"}'])
    await expect(
      createAuthenticator({ ...issuer, jwksUrl, userIdClaim: "sub", onKeysFetched })(token),
    ).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(fetched).toEqual([false, false, false, false]);
});

test("while the issuer is down, tokens with a known key are accepted, and the failure is reported", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const beginMs = Date.now();
  const passing = await startTestIssuer();
  const reported = Promise.withResolvers<unknown>();
  const asked: boolean[] = [];
  const authenticate = createAuthenticator({
    ...passing,
    userIdClaim: "sub",
    onKeysError: reported.resolve,
    onKeysFetched: (isGiven) => void asked.push(isGiven),
  });
  const token = await passing.token("1", [], { exp: beginMs / 1000 + 48 * 3_600 });
  const once = `Bearer ${token}`;
  await authenticate(once);
  await passing.stop();
  vi.setSystemTime(beginMs + 11 * 60_000);
  expect(await authenticate(once)).toMatchObject({ userId: "1" });
  expect(await reported.promise).toBeInstanceOf(Error);
  expect(asked).toEqual([true, false]);
  vi.setSystemTime(beginMs + 25 * 3_600_000);
  await expect(authenticate(once)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(new Set(asked.slice(1))).toEqual(new Set([false]));
});

test("keys are fetched again after ten minutes", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const jwks = await (await fetch(issuer.jwksUrl)).text();
  const keys = createServer((_, response) => {
    asked++;
    response.end(jwks);
  });
  await new Promise<void>((resolve) => keys.listen(0, "127.0.0.1", resolve));
  keys.unref();
  const jwksUrl = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`;
  const authenticate = createAuthenticator({ ...issuer, jwksUrl, userIdClaim: "sub" });
  for (const [minutes, times] of [
    [0, 1],
    [5, 1],
    [6, 2],
  ] as const) {
    vi.setSystemTime(Date.now() + minutes * 60_000);
    await authenticate(`Bearer ${await issuer.token("1")}`);
    await expect.poll(() => asked).toBe(times);
  }
});

test("a token is verified once, and rejected after it expires", async () => {
  let now = Date.now();
  const authenticate = createAuthenticator({ ...issuer, userIdClaim: "sub", now: () => now, verifiedTokensMax: 1 });
  const token = `Bearer ${await issuer.token("1")}`;
  const first = await authenticate(token);
  expect(await authenticate(token)).toBe(first);
  now += 61_000;
  expect(await authenticate(token)).not.toBe(first);
  const second = await authenticate(token);
  await authenticate(`Bearer ${await issuer.token("2")}`);
  expect(await authenticate(token)).not.toBe(second);
  now += 600_000;
  await expect(authenticate(token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("a verified token is not in the cache after its expiry, also for the connection that sent it", async () => {
  let now = Date.now();
  const verifier = createTokenVerifier({ ...issuer, userIdClaim: "sub", now: () => now });
  const exp = Math.floor(now / 1000) + 10;
  const authorization = `Bearer ${await issuer.token("1", [], { exp })}`;
  await verifier.verify(authorization);
  const connection = {};
  expect(verifier.find(authorization, connection)).toMatchObject({ userKey: "user:1" });
  now = exp * 1000;
  expect(verifier.find(authorization, connection)).toBeUndefined();
});

test("scopes and users are checked by functions with readable names", () => {
  const ada: Identity = { kind: "user", userId: "1", scopes: new Set(["posts:write"]) };
  expect([isUser(ada, "1"), isUser(ada, "2"), isUser({ kind: "anonymous" }, null)]).toEqual([true, false, false]);
  expect([hasScope(ada, "posts:write"), hasScope({ kind: "anonymous" }, "posts:write")]).toEqual([true, false]);
  expect(requireAnyScope(ada, "posts:write:all", "posts:write")).toBe(ada);
  expect(() => requireAnyScope(ada, "users:write")).toThrow("users:write");
  expect(() => requireUser({ kind: "anonymous" })).toThrow("token");
  expect([denyAccess(ada, "no").code, denyAccess({ kind: "anonymous" }, "no").code]).toEqual([
    "FORBIDDEN",
    "UNAUTHENTICATED",
  ]);
});

test("a fetch of keys is a span of the request that waits for it; known keys cause no span", async () => {
  const collector = createSpanCollector();
  const trace = await collector.createTrace("users");
  const authenticate = createAuthenticator({ ...issuer, userIdClaim: "sub", trace });
  for (const user of ["1", "2"]) {
    const token = await issuer.token(user);
    const span = trace.begin(`request of ${user}`, undefined);
    await trace.run(span, () => authenticate(`Bearer ${token}`));
    span?.end();
  }
  expect(collector.paths()).toEqual(["request of 1 > fetch token keys", "request of 2"]);
  expect(collector.spans()[0]).toMatchObject({
    kind: "client",
    attributes: { "server.address": "127.0.0.1", "http.response.status_code": 200 },
  });
});

test("a failed fetch of the keys is a failed span", async () => {
  const collector = createSpanCollector();
  const trace = await collector.createTrace("users");
  const authenticate = createAuthenticator({ ...issuer, jwksUrl: "http://127.0.0.1:9", userIdClaim: "sub", trace });
  const token = await issuer.token("1");
  const span = trace.begin("request", undefined);
  await expect(trace.run(span, () => authenticate(`Bearer ${token}`))).rejects.toThrow("cannot be verified");
  expect(collector.spans()).toMatchObject([{ name: "fetch token keys", failed: true }]);
});

const authenticator = () => createAuthenticator({ ...issuer, userIdClaim: "sub" });

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of the issuer with these texts as header and `exp`, which `JSON.stringify` would change. */
function signJson(header: string, exp: string): string {
  const { issuer: iss, audience: aud } = issuer;
  return issuer.sign(header, JSON.stringify({ iss, aud, sub: "1" }).replace("{", `{"exp":${exp},`));
}

async function refusal(token: string): Promise<string> {
  return authenticator()(`Bearer ${token}`).then(
    () => "accepted",
    (error: { code: string }) => error.code,
  );
}

async function brokenKeys(): Promise<string> {
  const server = createServer((_, response) => void response.end("<html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
