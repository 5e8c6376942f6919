import { expect, test } from "vitest";
import { knownScopes, defaultScopes } from "./demo-users.ts";
import { readTokenRequest, TokenRequestError } from "./token-request.ts";

test.each([
  ["ada", "1"],
  ["Grace", "2"],
  ["linus", "3"],
  ["3", "3"],
  ["77", "77"],
  [77, "77"],
])("%j gets the usual scopes for an hour", (user, userId) => {
  expect(readTokenRequest({ user })).toEqual({ userId, scopes: defaultScopes, ttlSeconds: 3_600 });
});

test("ops gets every scope", () => {
  expect(readTokenRequest({ user: "ops" })).toEqual({ userId: "4", scopes: knownScopes, ttlSeconds: 3_600 });
});

test("scopes and lifetime are read from a form and from JSON", () => {
  const wanted = { userId: "1", scopes: ["orders:read", "x"], ttlSeconds: 60 };
  expect(readTokenRequest({ user: "ada", scope: "orders:read x", expires_in: "60" })).toEqual(wanted);
  expect(readTokenRequest({ user: "ada", scope: "orders:read x", expires_in: 60 })).toEqual(wanted);
  expect(readTokenRequest({ user: "ada", scope: "" }).scopes).toEqual([]);
});

test.each<unknown>([
  undefined,
  null,
  "ada",
  [],
  {},
  { user: "" },
  { user: "bob" },
  { user: "0" },
  { user: "-1" },
  { user: "9223372036854775808" },
  { user: 1.5 },
  { user: ["ada", "grace"] },
  { user: { name: "ada" } },
  { user: "__proto__" },
  { user: "ada", subject: "2" },
  { user: "ada", scope: 'a"b' },
  { user: "ada", scope: "a  b" },
  { user: "ada", scope: "a\nb" },
  { user: "ada", scope: "a".repeat(1_001) },
  { user: "ada", scope: ["a"] },
  { user: "ada", expires_in: 0 },
  { user: "ada", expires_in: 86_401 },
  { user: "ada", expires_in: "1e3" },
  { user: "ada", expires_in: null },
])("%j is refused", (body) => {
  expect(() => readTokenRequest(body)).toThrow(TokenRequestError);
});

test("the error for an unknown user lists the demo users", () => {
  expect(() => readTokenRequest({ user: "bob" })).toThrow("one of ada, grace, linus, ops, or a user id");
});
