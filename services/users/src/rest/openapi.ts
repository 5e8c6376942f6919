// The documentation of the REST routes: requests, responses and examples in each version. `npm run generate` and the tests read it; the running
// service does not, and validates by model.ts and read.ts.
import type { OperationExample, OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  bareList,
  opaqueId,
  pageFields,
  pageOf,
  responseText,
  sortField,
  timestamp,
  withTextLimits,
} from "@tributary/kit/openapi/schemas";
import { z } from "zod";
import { name, role } from "../model.ts";
import type { routes } from "./routes.ts";

/** The schemas, descriptions and examples that differ between versions. */
interface VersionSchemas {
  readonly user: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newUser: z.ZodType;
  readonly changes: z.ZodType;
  readonly hiddenFields: string;
  readonly deactivatedAs: "NOT_FOUND" | "GONE";
  /** The user with id 1, for anonymous callers and for herself. */
  readonly ada: object;
  readonly adaAsOwner: object;
  readonly admin: object;
  readonly created: { readonly body: object; readonly response: object };
  readonly theme: object;
}

const nameInput = withTextLimits(name, { min: 1, max: 80 });
const search = withTextLimits(z.string(), { min: 1, max: 80 }).meta({
  description: "Each word matches the beginning of a word of the name.",
});

/** Stricter than the service: only host names with a dot, so that every string that matches is a valid URL. */
const urlInput = z
  .string()
  .max(2_048)
  .regex(
    /^https?:\/\/[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*\.[a-z]{2,24}(?:\/[A-Za-z0-9._~!$&'()*+,;=:@?/-]*)?$/,
  )
  .meta({ format: "uri", examples: ["https://avatars.example.org/ada.png"] });
const urlOutput = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\//)
  .meta({ format: "uri", examples: ["https://avatars.example.org/1.png"] });

/** Without `format: email`, which validators implement differently. */
const emailText = z
  .email()
  .max(254)
  .meta({ format: undefined, examples: ["ada.lovelace@example.org"] });

const preferencesInput = z
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
      .meta({
        description: "An IANA time zone name. An unknown name is rejected with 422.",
        examples: ["Europe/London"],
      }),
    theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
    newsletter: z.boolean().nullish(),
  })
  .meta({ id: "PreferencesInput" });
const preferencesOutput = z
  .strictObject({
    locale: responseText(35, "en-GB").nullish(),
    timeZone: responseText(64, "Europe/London").nullish(),
    theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
    newsletter: z.boolean().nullish(),
  })
  .meta({ id: "Preferences" });

const commonFields = {
  id: opaqueId("The user's id.", "1"),
  name: responseText(80, "Ada Lovelace"),
  createdAt: timestamp("When the account was created."),
  role: role.meta({ description: "Descriptive only: a role grants no permission." }),
};

const userV1 = z
  .strictObject({
    ...commonFields,
    email: emailText
      .nullable()
      .meta({ description: "Null if the user has none, and for callers who may not read it." }),
    avatarUrl: urlOutput.nullable(),
    prefs: preferencesOutput
      .nullable()
      .meta({ description: "Null if the user has none, and for callers who may not read them." }),
  })
  .meta({ id: "User" });

const userV2 = z
  .strictObject({
    ...commonFields,
    avatar: z.strictObject({ url: urlOutput }).nullable(),
    private: z
      .strictObject({ email: emailText.nullable(), prefs: preferencesOutput.nullable() })
      .optional()
      .meta({ description: "Absent for callers who may not read it." }),
  })
  .meta({ id: "User" });

const privateInput = z.strictObject({ email: emailText.nullish(), prefs: preferencesInput.nullish() });

const ada = { id: "1", name: "Ada Lovelace", createdAt: "2024-10-31T19:57:26.131Z", role: "AUTHOR" };
const admin = { id: "4", name: "Margaret Hamilton", createdAt: "2024-11-03T21:32:11.804Z", role: "ADMIN" };
const prefs = { locale: "en-GB", timeZone: "Europe/London", theme: "DARK", newsletter: true };
const createdUser = (id: string, name: string) => ({ id, name, createdAt: "2026-11-21T09:30:00.000Z", role: "READER" });

const schemasV1: VersionSchemas = {
  user: userV1,
  list: bareList,
  newUser: z
    .strictObject({
      name: nameInput,
      email: emailText.nullish(),
      avatarUrl: urlInput.nullish(),
      role: role.nullish(),
      prefs: preferencesInput.nullish(),
    })
    .meta({ id: "NewUser" }),
  changes: z
    .strictObject({
      name: nameInput.optional(),
      email: emailText.nullish(),
      avatarUrl: urlInput.nullish(),
      role: role.optional(),
      prefs: preferencesInput.nullish(),
    })
    .meta({ id: "UserChanges" }),
  hiddenFields: "`email` and `prefs` are null",
  deactivatedAs: "NOT_FOUND",
  ada: { ...ada, email: null, avatarUrl: "https://avatars.example.org/1.png", prefs: null },
  adaAsOwner: { ...ada, email: "ada.lovelace@example.org", avatarUrl: "https://avatars.example.org/1.png", prefs },
  admin: { ...admin, email: null, avatarUrl: "https://avatars.example.org/4.png", prefs: null },
  created: {
    body: { name: "Katherine Johnson", email: "katherine.johnson@example.org" },
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

const schemasV2: VersionSchemas = {
  user: userV2,
  list: pageOf,
  newUser: z
    .strictObject({
      name: nameInput,
      avatar: z.strictObject({ url: urlInput }).nullish(),
      role: role.nullish(),
      private: privateInput.nullish(),
    })
    .meta({ id: "NewUser" }),
  changes: z
    .strictObject({
      name: nameInput.optional(),
      avatar: z.strictObject({ url: urlInput.optional() }).nullish(),
      role: role.optional(),
      private: privateInput.nullish(),
    })
    .meta({ id: "UserChanges" }),
  hiddenFields: "`private` is absent",
  deactivatedAs: "GONE",
  ada: { ...ada, avatar: { url: "https://avatars.example.org/1.png" } },
  adaAsOwner: {
    ...ada,
    avatar: { url: "https://avatars.example.org/1.png" },
    private: { email: "ada.lovelace@example.org", prefs },
  },
  admin: { ...admin, avatar: { url: "https://avatars.example.org/4.png" } },
  created: {
    body: { name: "Dorothy Vaughan", private: { email: "dorothy.vaughan@example.org" } },
    response: { ...createdUser("1002", "Dorothy Vaughan"), avatar: null },
  },
  theme: { private: { prefs: { theme: "DARK" } } },
};

const path = { id: opaqueId("The user's id.", "1") };
const toUser = {
  operation: "getUser",
  parameters: { id: "$response.body#/id" },
  description: "The new user, like `Location`.",
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

function listUsers({ list, user, hiddenFields, admin }: VersionSchemas): OperationDocument {
  return {
    description: `Active users, newest first. For callers who may not read a user's private fields, ${hiddenFields}.`,
    callers: "everyone",
    query: { ...pageFields, role: role.meta({ description: "Only users with this role." }), search, ...sortField },
    response: { status: 200, description: "A page of users.", schema: list(user), headers: ["ETag", "Link"] },
    examples: [
      {
        name: "administrators",
        summary: "One administrator",
        path: "/users?role=ADMIN&limit=1",
        status: 200,
        response: list === bareList ? [admin] : { data: [admin], page: { next: null, prev: null } },
        varies: volatile,
      },
    ],
  };
}

const volatile = ["id", "createdAt", "avatarUrl", "avatar"];

function getUser({ user, hiddenFields, deactivatedAs, ada, adaAsOwner }: VersionSchemas): OperationDocument {
  const examples: readonly OperationExample[] = [
    {
      name: "publicPart",
      summary: "The public fields",
      path: "/users/1",
      status: 200,
      response: ada,
      varies: volatile,
    },
    {
      name: "ownAccount",
      summary: "Ada reads her own account",
      as: "ada",
      path: "/users/1",
      status: 200,
      response: adaAsOwner,
      varies: [...volatile, "prefs"],
    },
  ];
  return {
    description: `A user. Only the user, and callers with the scope \`users:read:private\`, see the private fields; for others, ${hiddenFields}.`,
    callers: "everyone",
    path,
    response: {
      status: 200,
      description: "The user.",
      schema: user,
      headers: ["ETag"],
      links: { posts: toItsPosts, orders: toItsOrders },
    },
    problems: deactivatedAs === "GONE" ? ["NOT_FOUND", "GONE"] : ["NOT_FOUND"],
    examples,
  };
}

function createUser({ user, newUser, created }: VersionSchemas): OperationDocument {
  return {
    description:
      "Creates a user. Each email address belongs to one user: a duplicate is rejected with 409. With an `Idempotency-Key` the request can be retried safely: for 24 hours a repetition gets the first response. After that user or the caller was deactivated, a repetition is rejected with 410.",
    callers: ["users:write:all"],
    body: newUser,
    response: {
      status: 201,
      description: "The new user.",
      schema: user,
      headers: ["ETag", "Location", "Idempotency-Replayed"],
      links: { itself: toUser, posts: toItsPosts },
    },
    problems: ["BAD_USER_INPUT", "CONFLICT", "GONE"],
    examples: [
      {
        name: "newcomer",
        summary: "A new reader",
        as: "linus",
        scopes: ["users:write:all"],
        path: "/users",
        body: created.body,
        status: 201,
        response: created.response,
        varies: ["id", "createdAt"],
      },
    ],
  };
}

function updateUser({ user, changes, theme, deactivatedAs, adaAsOwner }: VersionSchemas): OperationDocument {
  return {
    description:
      "Applies a JSON Merge Patch (RFC 7396): absent members remain, null clears. The user needs `users:write`; other callers, and a change of `role`, need `users:write:all`.",
    callers: ["users:write", "users:write:all"],
    path,
    body: changes,
    ifMatch: "required",
    response: {
      status: 200,
      description: "The changed user.",
      schema: user,
      headers: ["ETag"],
      links: { itself: toUser },
    },
    problems: ["BAD_USER_INPUT", "CONFLICT", "NOT_FOUND", ...(deactivatedAs === "GONE" ? [deactivatedAs] : [])],
    examples: [
      {
        name: "darkTheme",
        summary: "Ada chooses the dark theme",
        as: "ada",
        path: "/users/1",
        headers: { "If-Match": "*" },
        body: theme,
        status: 200,
        response: adaAsOwner,
        varies: [...volatile, "prefs"],
      },
    ],
  };
}

/** The OpenAPI operations of this service. `npm run generate` merges the operations of all services into one document per version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Users", description: "User accounts." },
  operations: {
    listUsers: { 1: listUsers(schemasV1), 2: listUsers(schemasV2) },
    getUser: { 1: getUser(schemasV1), 2: getUser(schemasV2) },
    createUser: { 1: createUser(schemasV1), 2: createUser(schemasV2) },
    updateUser: { 1: updateUser(schemasV1), 2: updateUser(schemasV2) },
  },
};
