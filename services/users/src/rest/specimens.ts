import type { User } from "../model.ts";

const complete: User = {
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

const bare: User = { ...complete, email: null, avatarUrl: null, prefs: null };

/** What a version of the door makes of users with each field filled and empty, in both views: it tells it from what it made before. */
export function renderSpecimens(toJson: (user: User, seesPrivate: boolean) => unknown): readonly unknown[] {
  return [complete, bare].flatMap((user) => [toJson(user, true), toJson(user, false)]);
}
