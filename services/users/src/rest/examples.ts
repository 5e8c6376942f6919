// Shown in the OpenAPI documents. A test sends the requests and compares the responses, except for `varies`.
import { userFields } from "../model.ts";
import type { NewUserV1, NewUserV2, UserChangesV1, UserChangesV2 } from "./read.ts";
import type { UserV1, UserV2 } from "./schemas.ts";

interface UserExamples<Body, New, Changes> {
  /** The user with id 1: `ada` as anonymous callers see her, `adaAsOwner` as she sees herself. */
  readonly ada: Body;
  readonly adaAsOwner: Body;
  readonly admin: Body;
  readonly created: {
    readonly body: New;
    /** `body` with another email address for each number, because no two users may have the same address. */
    readonly uniqueBody: (number: number) => New;
    readonly response: Body;
  };
  readonly theme: Changes;
}

// `cleared` has null for each optional plain field, `examples` an example for each plain field.
const { cleared, examples } = userFields;
const ada = {
  id: "1",
  ...cleared,
  name: "Ada Lovelace",
  createdAt: "2024-10-31T19:57:26.131Z",
  role: "AUTHOR",
} as const;
const admin = {
  id: "4",
  ...cleared,
  name: "Margaret Hamilton",
  createdAt: "2024-11-03T21:32:11.804Z",
  role: "ADMIN",
} as const;
const prefs = { locale: "en-GB", timeZone: "Europe/London", theme: "DARK", newsletter: true } as const;
const createdUser = (id: string, name: string) =>
  ({ id, ...examples, name, createdAt: "2026-11-21T09:30:00.000Z", role: "READER" }) as const;

const katherine = { ...examples, name: "Katherine Johnson", email: "katherine.johnson@example.org" };
const dorothy = { ...examples, name: "Dorothy Vaughan", private: { email: "dorothy.vaughan@example.org" } };

export const examplesV1: UserExamples<UserV1, NewUserV1, UserChangesV1> = {
  ada: { ...ada, email: null, avatarUrl: "https://avatars.example.org/1.png", prefs: null },
  adaAsOwner: { ...ada, email: "ada.lovelace@example.org", avatarUrl: "https://avatars.example.org/1.png", prefs },
  admin: { ...admin, email: null, avatarUrl: "https://avatars.example.org/4.png", prefs: null },
  created: {
    body: katherine,
    uniqueBody: (number) => ({ ...katherine, email: `katherine.johnson.${number}@example.org` }),
    response: {
      ...createdUser("1001", "Katherine Johnson"),
      // The creator of an account may not read its private fields without `users:read:private`.
      email: null,
      avatarUrl: null,
      prefs: null,
    },
  },
  theme: { prefs: { theme: "DARK" } },
};

export const examplesV2: UserExamples<UserV2, NewUserV2, UserChangesV2> = {
  ada: { ...ada, avatar: { url: "https://avatars.example.org/1.png" } },
  adaAsOwner: {
    ...ada,
    avatar: { url: "https://avatars.example.org/1.png" },
    private: { email: "ada.lovelace@example.org", prefs },
  },
  admin: { ...admin, avatar: { url: "https://avatars.example.org/4.png" } },
  created: {
    body: dorothy,
    uniqueBody: (number) => ({ ...dorothy, private: { email: `dorothy.vaughan.${number}@example.org` } }),
    response: { ...createdUser("1002", "Dorothy Vaughan"), avatar: null },
  },
  theme: { private: { prefs: { theme: "DARK" } } },
};
