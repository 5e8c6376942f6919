import { type User, userFields } from "../model.ts";

const completeUser: User = {
  id: "1",
  ...userFields.examples,
  email: "name@example.org",
  avatarUrl: "https://example.org/avatar.png",
  createdAt: new Date("2026-01-02T03:04:05.678Z"),
  role: "AUTHOR",
  prefs: { locale: "en-GB", timeZone: "Europe/London", theme: "DARK", newsletter: true },
  deactivatedAt: null,
  rowVersion: "1",
};

const minimalUser: User = { ...completeUser, ...userFields.cleared, email: null, avatarUrl: null, prefs: null };

/**
 * Renders users with every field set and with every optional field empty, in both views. v1.ts and v2.ts call it once, at start, and every
 * ETag contains a hash of the result. So a release that represents a field differently changes all ETags, and no 304 confirms a body of the
 * previous release.
 */
export function renderSamples(toJson: (user: User, seesPrivate: boolean) => unknown): readonly unknown[] {
  return [completeUser, minimalUser].flatMap((user) => [toJson(user, true), toJson(user, false)]);
}
