import { expect, test } from "vitest";
import { revokedByChange } from "./revocations.ts";

const active = { id: "7", deactivatedAt: null };
const deactivated = { id: "7", deactivatedAt: "2026-11-30 14:00:00+00" };

test.each([
  ["a deactivation", active, deactivated, ["7"]],
  ["another change", active, active, []],
  ["a new account", null, active, []],
  ["an account that is active again", deactivated, active, undefined],
  // Its tokens remain revoked.
  ["a deactivated account that is deleted", deactivated, null, []],
])("%s", (_, before, after, revoked) => {
  expect(revokedByChange({ kind: "user", before, after })).toEqual(revoked);
});
