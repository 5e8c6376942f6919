import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { startTestIssuer, type TestIssuer } from "../testing/issuer.ts";
import { type Callers, type CallersOptions, createCallers } from "./caller.ts";
import { createRevocations } from "./revocations.ts";

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startTestIssuer();
});
afterAll(() => issuer.stop());

test("a caller without a token has the key of its address, and of an IPv6 address the first 64 bits", () => {
  const callers = callersWith();
  expect(callers.identify(requestOf({}))).toEqual({
    key: "address:192.0.2.1",
    address: "192.0.2.1",
    protocol: "http",
    identity: { kind: "anonymous" },
    client: { name: undefined, version: undefined, isVerified: false },
  });
  expect(callers.identify(requestOf({}, "2001:db8:1:2::9"))).toMatchObject({ key: "address:2001:db8:1:2" });
});

test("a caller with a verified token has the key of its user, synchronously from the second request on", async () => {
  const callers = callersWith();
  const request = requestOf({ authorization: `Bearer ${await issuer.token("42", ["posts:write"])}` });
  expect(callers.identify(request)).toBeUndefined();
  const caller = { key: "user:42", identity: { kind: "user", userId: "42", scopes: new Set(["posts:write"]) } };
  expect(await callers.verify(request)).toMatchObject(caller);
  expect(callers.identify(request)).toMatchObject(caller);
});

test.each(["auth0|5f7c8ec7", "f:550e8400-e29b-41d4-a716-446655440000", "ada@example.com"])(
  "a user may have the id %s of another issuer",
  async (userId) => {
    const request = requestOf({ authorization: `Bearer ${await issuer.token(userId)}` });
    expect(await callersWith().verify(request)).toMatchObject({ key: `user:${userId}`, identity: { userId } });
  },
);

test("a user has neither an empty id nor one of 256 characters", async () => {
  for (const userId of ["", "a".repeat(256)]) {
    const request = requestOf({ authorization: `Bearer ${await issuer.token(userId)}` });
    await expect(callersWith().verify(request)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  }
});

test("the tokens of a revoked user are rejected from the next request on, verified before or not", async () => {
  const revocations = createRevocations();
  const callers = callersWith({ revocations });
  const [ada, again, bob] = await Promise.all(
    ["1", "1", "2"].map(async (user, i) =>
      requestOf({ authorization: `Bearer ${await issuer.token(user, [], { jti: i })}` }),
    ),
  );
  for (const request of [ada, bob]) await callers.verify(request!);
  revocations.add("accounts", ["1"]);
  const rejected = { code: "UNAUTHENTICATED" };
  expect(() => callers.identify(ada!)).toThrow(expect.objectContaining(rejected));
  await expect(callers.verify(again!)).rejects.toMatchObject(rejected);
  expect(callers.identify(bob!)).toMatchObject({ key: "user:2" });
  revocations.replace("accounts", []);
  expect(callers.identify(ada!)).toMatchObject({ key: "user:1" });
});

test("a process remembers the last 10,000 revoked subjects of each service", () => {
  const revocations = createRevocations();
  revocations.add("others", ["7"]);
  for (let id = 1; id <= 10_001; id++) revocations.add("accounts", [String(id)]);
  expect(["1", "2", "10001", "7", "10002"].map((id) => revocations.isRevoked(id))).toEqual([
    ...[false, true, true, true, false],
  ]);
});

test("a connection may send another token at any time, and each is verified again after 60 s", async () => {
  let now = Date.now();
  const callers = callersWith({ now: () => now });
  const { socket } = requestOf({});
  const [ada = requestOf({}), bob = requestOf({})] = await Promise.all(
    ["1", "2"].map(async (user) =>
      Object.assign(requestOf({ authorization: `Bearer ${await issuer.token(user)}` }), { socket }),
    ),
  );
  for (const [request, key] of [
    [ada, "user:1"],
    [bob, "user:2"],
  ] as const) {
    expect(callers.identify(request)).toBeUndefined();
    expect(await callers.verify(request)).toMatchObject({ key });
  }
  for (const [request, key] of [
    [ada, "user:1"],
    [ada, "user:1"],
    [bob, "user:2"],
    [ada, "user:1"],
  ] as const)
    expect(callers.identify(request)).toMatchObject({ key });
  now += 60_001;
  for (const request of [ada, bob]) expect(callers.identify(request)).toBeUndefined();
});

test("without an issuer no token is verified, and no token is a key", () => {
  const callers = callersWith({ tokens: undefined });
  const request = requestOf({ authorization: "Bearer x" });
  expect(callers.identify(request)).toMatchObject({ key: "address:192.0.2.1", identity: { kind: "anonymous" } });
});

test("a rejected token is rejected for 5 s without a verification, and then verified again", async () => {
  let now = Date.now();
  const callers = callersWith({ now: () => now });
  const request = requestOf({ authorization: `Bearer ${await issuer.token("1", [], { aud: "another" })}` });
  await expect(callers.verify(request)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect(() => callers.identify(request)).toThrow("not valid");
  now += 5_001;
  await expect(callers.verify(request)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
});

test("a flood of different invalid tokens evicts no verified token", async () => {
  const callers = callersWith();
  const ada = requestOf({ authorization: `Bearer ${await issuer.token("1")}` });
  await callers.verify(ada);
  for (let index = 0; index < 2_000; index++) {
    const invalid = requestOf({ authorization: `Bearer e30.${index}.x` });
    await expect(callers.verify(invalid)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  }
  expect(callers.identify(ada)).toMatchObject({ key: "user:1" });
});

test("of a flood of invalid tokens, at most 8 signatures are checked in one turn of the event loop", async () => {
  const callers = callersWith();
  await fetchKeys(callers);
  const tokens = await forgeTokens(400);
  const countPerTurn = countSignatureChecks();
  expectAtMost8PerTurn(await countPerTurn(identifyAll(callers, tokens)), tokens.length);
});

test.each(["the first", "a later"])(
  "of the tokens that waited for %s fetch of the keys, at most 8 signatures are checked in one turn",
  async (fetched) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const server = await startKeysServer();
    const callers = callersWith({ tokens: { ...issuer, userIdClaim: "sub", jwksUrl: server.url } });
    if (fetched === "a later") {
      const rejected = identifyAll(callers, await forgeTokens(1));
      (await server.nextFetch()).end('{"keys":[]}');
      await Promise.all(rejected);
      // The cooldown of the fetches has passed.
      vi.setSystemTime(Date.now() + 2_000);
    }
    const tokens = await forgeTokens(400);
    const keys = await readKeys();
    const countPerTurn = countSignatureChecks();
    const results = identifyAll(callers, tokens);
    const response = await server.nextFetch();
    // Then all tokens wait for the keys, even if the verifier reads only one token per turn.
    for (let turn = 0; turn < tokens.length; turn++) await nextTurn();
    response.end(keys);
    expectAtMost8PerTurn(await countPerTurn(results), tokens.length);
  },
);

test("while 1,000 signatures wait to be checked, further tokens are a 503, which is not reported as a failure of the keys", async () => {
  const failures: unknown[] = [];
  const callers = callersWith({ onKeysError: (error) => void failures.push(error) });
  await fetchKeys(callers);
  const errors = await Promise.all(identifyAll(callers, await forgeTokens(1_100)));
  const rejected = errors.filter(({ code }) => code === "SERVICE_UNAVAILABLE");
  // 8 are checked at once.
  expect([errors.length - rejected.length, failures]).toEqual([1_008, []]);
  for (const error of rejected) expect(error).toMatchObject({ retryAfterSeconds: 1 });
});

test("without the issuer's keys a token is a 503, and the failure is reported", async () => {
  const failures: unknown[] = [];
  const tokens = { ...issuer, userIdClaim: "sub", jwksUrl: "http://127.0.0.1:1/jwks" };
  const callers = callersWith({ tokens, onKeysError: (error) => void failures.push(error) });
  const request = requestOf({ authorization: `Bearer ${await issuer.token("1")}` });
  const unavailable = { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 };
  await expect(callers.verify(request)).rejects.toMatchObject(unavailable);
  expect(failures).toHaveLength(1);
});

test("a client key verifies the client's name, also a second key of the client", () => {
  const callers = callersWith();
  for (const key of ["web-key-1", "web-key-2"]) {
    const headers = { "x-client-key": key, "x-client-name": "mobile", "x-client-version": "7" };
    expect(callers.identify(requestOf(headers))).toMatchObject({
      key: "client:web",
      client: { name: "web", version: "7", isVerified: true },
    });
  }
});

test("a claimed client name, or one with an unknown key, is not verified and never a key", () => {
  const callers = callersWith();
  for (const headers of [{}, { "x-client-key": "guess" }, { "x-client-key": hash("sha256", "web-key-1") }]) {
    const caller = callers.identify(requestOf({ ...headers, "apollographql-client-name": "web" }));
    expect(caller).toMatchObject({ key: "address:192.0.2.1", client: { name: "web", isVerified: false } });
  }
});

test("a claim of a verified token verifies the client's name if it is configured; the key remains the user's", async () => {
  const authorization = `Bearer ${await issuer.token("42", [], { azp: "web" })}`;
  const request = requestOf({ authorization, "x-client-name": "mobile" });
  const tokens = { ...issuer, userIdClaim: "sub", clientClaim: "azp" };
  const verified = { key: "user:42", client: { name: "web", isVerified: true } };
  expect(await callersWith({ tokens }).verify(request)).toMatchObject(verified);
  // Anyone can extract the key of an app; the issuer signs the name in the token.
  const clientKeys = [{ name: "mobile", sha256: hash("sha256", "mobile-key") }];
  const withKey = requestOf({ authorization, "x-client-key": "mobile-key" });
  expect(await callersWith({ tokens, clientKeys }).verify(withKey)).toMatchObject(verified);
  const claimed = { key: "user:42", client: { name: "mobile", isVerified: false } };
  expect(await callersWith().verify(request)).toMatchObject(claimed);
});

test("X-Forwarded-For of an untrusted address is not a key", () => {
  const request = requestOf({ "x-forwarded-for": "198.51.100.1" });
  expect(callersWith().identify(request)).toMatchObject({ key: "address:192.0.2.1" });
  const behindProxy = callersWith({ trustedProxies: ["192.0.2.0/24"] });
  expect(behindProxy.identify(request)).toMatchObject({ key: "address:198.51.100.1" });
});

/** Tokens with different invalid signatures. */
async function forgeTokens(count: number): Promise<readonly string[]> {
  const [header, payload] = (await issuer.token("1")).split(".");
  return Array.from({ length: count }, (_, index) => `${header}.${payload}.${encodeSignature(index)}`);
}

function encodeSignature(index: number): string {
  return Buffer.alloc(64, `${index} `).toString("base64url");
}

async function fetchKeys(callers: Callers): Promise<void> {
  await callers.verify(requestOf({ authorization: `Bearer ${await issuer.token("1")}` }));
}

async function readKeys(): Promise<string> {
  return (await fetch(issuer.jwksUrl)).text();
}

/** Sends one request with each of the invalid tokens. @returns their errors. */
function identifyAll(callers: Callers, tokens: readonly string[]): readonly Promise<AppError>[] {
  return tokens.map(async (token) => {
    try {
      await callers.verify(requestOf({ authorization: `Bearer ${token}` }));
    } catch (error) {
      if (error instanceof AppError) return error;
    }
    throw new Error("A forged token was accepted.");
  });
}

/** @returns a function that counts the signatures that were checked in each turn of the event loop until the results are settled. */
function countSignatureChecks() {
  const verify = vi.spyOn(crypto.subtle, "verify");
  onTestFinished(() => verify.mockRestore());
  return async (results: readonly Promise<unknown>[]): Promise<readonly number[]> => {
    const pending = new Set(results);
    for (const result of results) void result.finally(() => pending.delete(result));
    const counts: number[] = [];
    while (pending.size > 0) {
      const before = verify.mock.calls.length;
      await nextTurn();
      counts.push(verify.mock.calls.length - before);
    }
    return counts;
  };
}

function expectAtMost8PerTurn(counts: readonly number[], total: number): void {
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(total);
  // The first count may include 8 that started before its turn.
  expect(Math.max(...counts)).toBeLessThanOrEqual(16);
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** A server of an issuer's keys whose responses the test sends. */
async function startKeysServer() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    nextFetch: async () => (await once(server, "request"))[1] as ServerResponse,
  };
}

const clientKeys = ["web-key-1", "web-key-2"].map((key) => ({ name: "web", sha256: hash("sha256", key) }));

function callersWith(o: Partial<CallersOptions> = {}) {
  return createCallers({ trustedProxies: [], tokens: { ...issuer, userIdClaim: "sub" }, clientKeys, ...o });
}

function requestOf(headers: Readonly<Record<string, string>>, remoteAddress = "192.0.2.1"): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}
