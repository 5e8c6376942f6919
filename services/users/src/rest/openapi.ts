import type { Example, OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  bareList,
  opaqueId,
  pageFields,
  pageOf,
  shownText,
  sortField,
  timestamp,
  withTextLimits,
} from "@tributary/kit/openapi/schemas";
import { z } from "zod";
import { name, role } from "../model.ts";
import type { routes } from "./routes.ts";

/** What one version has of its own. */
interface Words {
  readonly user: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newUser: z.ZodType;
  readonly changes: z.ZodType;
  readonly hidden: string;
  readonly former: "NOT_FOUND" | "GONE";
  /** Ada as strangers see her, and as she sees herself. */
  readonly ada: object;
  readonly adaToHerself: object;
  readonly admin: object;
  readonly newcomer: { readonly body: object; readonly answer: object };
  readonly theme: object;
}

const givenName = withTextLimits(name, { min: 1, max: 80 });
const search = withTextLimits(z.string(), { min: 1, max: 80 }).meta({
  description: "Words that begin words of the name.",
});

/** Narrower than what is taken: hosts with a dot, so that whatever fits is an address. */
const givenUrl = z
  .string()
  .max(2_048)
  .regex(
    /^https?:\/\/[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*\.[a-z]{2,24}(?:\/[A-Za-z0-9._~!$&'()*+,;=:@?/-]*)?$/,
  )
  .meta({ format: "uri", examples: ["https://avatars.example.org/ada.png"] });
const shownUrl = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\//)
  .meta({ format: "uri", examples: ["https://avatars.example.org/1.png"] });

/** By its pattern alone: readers of `format: email` disagree about what else an address may not be. */
const emailText = z
  .email()
  .max(254)
  .meta({ format: undefined, examples: ["ada.lovelace@example.org"] });

const givenPrefs = z
  .strictObject({
    locale: z
      .string()
      .max(35)
      .regex(/^(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?$/)
      .nullish()
      .meta({ description: "A BCP 47 tag of language, script and region.", examples: ["en-GB"] }),
    timeZone: z
      .string()
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/)
      .nullish()
      .meta({ description: "An IANA name. One that does not exist is 422.", examples: ["Europe/London"] }),
    theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
    newsletter: z.boolean().nullish(),
  })
  .meta({ id: "PreferencesInput" });
const shownPrefs = z
  .strictObject({
    locale: shownText(35, "en-GB").nullish(),
    timeZone: shownText(64, "Europe/London").nullish(),
    theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
    newsletter: z.boolean().nullish(),
  })
  .meta({ id: "Preferences" });

const shown = {
  id: opaqueId("The user's id.", "1"),
  name: shownText(80, "Ada Lovelace"),
  createdAt: timestamp("When the account was made."),
  role: role.meta({ description: "A description: it grants nothing." }),
};

const userV1 = z
  .strictObject({
    ...shown,
    email: emailText.nullable().meta({ description: "Null when there is none, and for callers who may not see it." }),
    avatarUrl: shownUrl.nullable(),
    prefs: shownPrefs
      .nullable()
      .meta({ description: "Null when there are none, and for callers who may not see them." }),
  })
  .meta({ id: "User" });

const userV2 = z
  .strictObject({
    ...shown,
    avatar: z.strictObject({ url: shownUrl }).nullable(),
    private: z
      .strictObject({ email: emailText.nullable(), prefs: shownPrefs.nullable() })
      .optional()
      .meta({ description: "Absent for callers who may not see it." }),
  })
  .meta({ id: "User" });

const privateInput = z.strictObject({ email: emailText.nullish(), prefs: givenPrefs.nullish() });

const ada = { id: "1", name: "Ada Lovelace", createdAt: "2024-10-31T19:57:26.131Z", role: "AUTHOR" };
const admin = { id: "4", name: "Margaret Hamilton", createdAt: "2024-11-03T21:32:11.804Z", role: "ADMIN" };
const prefs = { locale: "en-GB", timeZone: "Europe/London", theme: "DARK", newsletter: true };
const newcomer = (id: string, name: string) => ({ id, name, createdAt: "2026-11-21T09:30:00.000Z", role: "READER" });

const wordsV1: Words = {
  user: userV1,
  list: bareList,
  newUser: z
    .strictObject({
      name: givenName,
      email: emailText.nullish(),
      avatarUrl: givenUrl.nullish(),
      role: role.nullish(),
      prefs: givenPrefs.nullish(),
    })
    .meta({ id: "NewUser" }),
  changes: z
    .strictObject({
      name: givenName.optional(),
      email: emailText.nullish(),
      avatarUrl: givenUrl.nullish(),
      role: role.optional(),
      prefs: givenPrefs.nullish(),
    })
    .meta({ id: "UserChanges" }),
  hidden: "`email` and `prefs` are null",
  former: "NOT_FOUND",
  ada: { ...ada, email: null, avatarUrl: "https://avatars.example.org/1.png", prefs: null },
  adaToHerself: { ...ada, email: "ada.lovelace@example.org", avatarUrl: "https://avatars.example.org/1.png", prefs },
  admin: { ...admin, email: null, avatarUrl: "https://avatars.example.org/4.png", prefs: null },
  newcomer: {
    body: { name: "Katherine Johnson", email: "katherine.johnson@example.org" },
    answer: {
      ...newcomer("1001", "Katherine Johnson"),
      // The address is its owner's and of `users:read:private`: whoever made the account does not see it.
      email: null,
      avatarUrl: null,
      prefs: null,
    },
  },
  theme: { prefs: { theme: "DARK" } },
};

const wordsV2: Words = {
  user: userV2,
  list: pageOf,
  newUser: z
    .strictObject({
      name: givenName,
      avatar: z.strictObject({ url: givenUrl }).nullish(),
      role: role.nullish(),
      private: privateInput.nullish(),
    })
    .meta({ id: "NewUser" }),
  changes: z
    .strictObject({
      name: givenName.optional(),
      avatar: z.strictObject({ url: givenUrl.optional() }).nullish(),
      role: role.optional(),
      private: privateInput.nullish(),
    })
    .meta({ id: "UserChanges" }),
  hidden: "`private` is absent",
  former: "GONE",
  ada: { ...ada, avatar: { url: "https://avatars.example.org/1.png" } },
  adaToHerself: {
    ...ada,
    avatar: { url: "https://avatars.example.org/1.png" },
    private: { email: "ada.lovelace@example.org", prefs },
  },
  admin: { ...admin, avatar: { url: "https://avatars.example.org/4.png" } },
  newcomer: {
    body: { name: "Dorothy Vaughan", private: { email: "dorothy.vaughan@example.org" } },
    answer: { ...newcomer("1002", "Dorothy Vaughan"), avatar: null },
  },
  theme: { private: { prefs: { theme: "DARK" } } },
};

const path = { id: opaqueId("The user's id.", "1") };
const toUser = {
  operation: "getUser",
  parameters: { id: "$response.body#/id" },
  description: "The same user. `Location` leads to it as well.",
};
const toItsOrders = {
  operation: "listUserOrders",
  parameters: { id: "$response.body#/id" },
  description: "The user's orders.",
};
const toItsPosts = {
  operation: "listUserPosts",
  parameters: { id: "$response.body#/id" },
  description: "The user's posts.",
};

function listUsers({ list, user, hidden, admin }: Words): OperationDocument {
  return {
    description: `Accounts that were not given up, newest first. For callers who may not see a user's private part, ${hidden}.`,
    callers: "anybody",
    query: { ...pageFields, role: role.meta({ description: "Only users with this role." }), search, ...sortField },
    answer: { status: 200, description: "A page of users.", schema: list(user), headers: ["ETag", "Link"] },
    examples: [
      {
        name: "administrators",
        summary: "One administrator",
        path: "/users?role=ADMIN&limit=1",
        status: 200,
        answer: list === bareList ? [admin] : { data: [admin], page: { next: null, prev: null } },
        varies: volatile,
      },
    ],
  };
}

const volatile = ["id", "createdAt", "avatarUrl", "avatar"];

function getUser({ user, hidden, former, ada, adaToHerself }: Words): OperationDocument {
  const examples: readonly Example[] = [
    {
      name: "publicPart",
      summary: "What everybody sees",
      path: "/users/1",
      status: 200,
      answer: ada,
      varies: volatile,
    },
    {
      name: "ownAccount",
      summary: "What Ada sees of herself",
      as: "ada",
      path: "/users/1",
      status: 200,
      answer: adaToHerself,
      varies: [...volatile, "prefs"],
    },
  ];
  return {
    description: `A user. For callers who may not see the private part, ${hidden}: it is for the user, and for the scope \`users:read:private\`.`,
    callers: "anybody",
    path,
    answer: {
      status: 200,
      description: "The user.",
      schema: user,
      headers: ["ETag"],
      links: { posts: toItsPosts, orders: toItsOrders },
    },
    problems: former === "GONE" ? ["NOT_FOUND", "GONE"] : ["NOT_FOUND"],
    examples,
  };
}

function createUser({ user, newUser, newcomer }: Words): OperationDocument {
  return {
    description: "Makes an account. An email address belongs to one user: a second one is 409.",
    callers: ["users:write:all"],
    body: newUser,
    answer: {
      status: 201,
      description: "The new user.",
      schema: user,
      headers: ["ETag", "Location"],
      links: { itself: toUser, posts: toItsPosts },
    },
    problems: ["BAD_USER_INPUT", "CONFLICT"],
    examples: [
      {
        name: "newcomer",
        summary: "A new reader",
        as: "linus",
        scopes: ["users:write:all"],
        path: "/users",
        body: newcomer.body,
        status: 201,
        answer: newcomer.answer,
        varies: ["id", "createdAt"],
      },
    ],
  };
}

function updateUser({ user, changes, theme, former, adaToHerself }: Words): OperationDocument {
  return {
    description:
      "A JSON Merge Patch (RFC 7396): what is left out stays, null clears. For the user with `users:write`; others need `users:write:all`, and so does a change of `role`.",
    callers: ["users:write", "users:write:all"],
    path,
    body: changes,
    ifMatch: "required",
    answer: {
      status: 200,
      description: "The user as it is now.",
      schema: user,
      headers: ["ETag"],
      links: { itself: toUser },
    },
    problems: ["BAD_USER_INPUT", "CONFLICT", "NOT_FOUND", ...(former === "GONE" ? [former] : [])],
    examples: [
      {
        name: "darkTheme",
        summary: "Ada prefers the dark",
        as: "ada",
        path: "/users/1",
        headers: { "If-Match": "*" },
        body: theme,
        status: 200,
        answer: adaToHerself,
        varies: [...volatile, "prefs"],
      },
    ],
  };
}

/** The chapter of the users. Composition merges it with the other teams' into one document for each version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Users", description: "Accounts: who writes, comments and orders." },
  operations: {
    listUsers: { 1: listUsers(wordsV1), 2: listUsers(wordsV2) },
    getUser: { 1: getUser(wordsV1), 2: getUser(wordsV2) },
    createUser: { 1: createUser(wordsV1), 2: createUser(wordsV2) },
    updateUser: { 1: updateUser(wordsV1), 2: updateUser(wordsV2) },
  },
};
