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

/** With every field set and with every optional one empty, in both views: the hash changes all ETags of a release that differs. */
export function renderSamples(toJson: (user: User, seesPrivate: boolean) => unknown): readonly unknown[] {
  return [completeUser, minimalUser].flatMap((user) => [toJson(user, true), toJson(user, false)]);
}
