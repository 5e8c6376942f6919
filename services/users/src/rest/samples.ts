import type { User } from "../model.ts";

const completeUser: User = {
  id: "1",
  name: "A name",
  email: "name@example.org",
  avatarUrl: "https://example.org/avatar.png",
  createdAt: new Date("2026-01-02T03:04:05.678Z"),
  role: "AUTHOR",
  prefs: { locale: "en-GB", timeZone: "Europe/London", theme: "DARK", newsletter: true },
  deactivatedAt: null,
  rowVersion: "1",
};

const minimalUser: User = { ...completeUser, email: null, avatarUrl: null, prefs: null };

/** Renders users with every field set and with every optional field empty, in both views. ETags contain a hash of the result, so that they
 * change with the JSON of a version. */
export function renderSamples(toJson: (user: User, seesPrivate: boolean) => unknown): readonly unknown[] {
  return [completeUser, minimalUser].flatMap((user) => [toJson(user, true), toJson(user, false)]);
}
