import type { OperationExample, OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  bareList,
  examplePage,
  opaqueId,
  pageFields,
  pageOf,
  pageResponse,
  sortField,
  withTextLimits,
} from "@tributary/kit/openapi/schemas";
import { z } from "zod";
import { role } from "../model.ts";
import { examplesV1, examplesV2 } from "./examples.ts";
import type { routes } from "./routes.ts";
import { newUserV1, newUserV2, userChangesV1, userChangesV2, userV1, userV2 } from "./schemas.ts";

interface VersionSchemas {
  readonly user: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newUser: z.ZodType;
  readonly changes: z.ZodType;
  /** The end of the sentence about callers who may not read a user's private fields. */
  readonly hiddenFields: string;
  /** For a deactivated user, besides NOT_FOUND. */
  readonly goneCodes: readonly "GONE"[];
  readonly examples: typeof examplesV1 | typeof examplesV2;
}

const schemasV1: VersionSchemas = {
  user: userV1,
  list: bareList,
  newUser: newUserV1,
  changes: userChangesV1,
  hiddenFields: "`email` and `prefs` are null",
  goneCodes: [],
  examples: examplesV1,
};

const schemasV2: VersionSchemas = {
  user: userV2,
  list: pageOf,
  newUser: newUserV2,
  changes: userChangesV2,
  hiddenFields: "`private` is absent",
  goneCodes: ["GONE"],
  examples: examplesV2,
};

const search = withTextLimits(z.string(), { min: 1, max: 80 }).meta({
  description: "Each word matches the beginning of a word of the name.",
});
const path = { id: opaqueId("The user's id.", "1") };
const userLink = {
  operation: "getUser",
  parameters: { id: "$response.body#/id" },
  description: "The new user, like `Location`.",
};
const ordersLink = {
  operation: "listUserOrders",
  parameters: { id: "$response.body#/id" },
  description: "The user's orders.",
};
const postsLink = {
  operation: "listUserPosts",
  parameters: { id: "$response.body#/id" },
  description: "The user's posts.",
};

/** Members whose values the test of the examples ignores. */
const volatile = ["id", "createdAt", "avatarUrl", "avatar"];

function listUsers(schemas: VersionSchemas): OperationDocument {
  const { list, user, hiddenFields, examples } = schemas;
  return {
    description: `Active users, newest first. For callers who may not read a user's private fields, ${hiddenFields}.`,
    callers: "everyone",
    query: { ...pageFields, role: role.meta({ description: "Only users with this role." }), search, ...sortField },
    response: pageResponse(list, user, "users"),
    examples: [
      {
        name: "administrators",
        summary: "One administrator",
        path: "/users?role=ADMIN&limit=1",
        response: examplePage(list, examples.admin, null),
        varies: volatile,
      },
    ],
  };
}

function getUser(schemas: VersionSchemas): OperationDocument {
  const { user, hiddenFields } = schemas;
  const { ada, adaAsOwner } = schemas.examples;
  const examples: readonly OperationExample[] = [
    {
      name: "publicPart",
      summary: "The public fields",
      path: "/users/1",
      response: ada,
      varies: volatile,
    },
    {
      name: "ownAccount",
      summary: "Ada reads her own account",
      as: "ada",
      path: "/users/1",
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
      links: { posts: postsLink, orders: ordersLink },
    },
    problems: ["NOT_FOUND", ...schemas.goneCodes],
    examples,
  };
}

function createUser({ user, newUser, examples: { created } }: VersionSchemas): OperationDocument {
  return {
    description:
      "Creates a user. Each email address belongs to one user: a duplicate is rejected with 409. With an `Idempotency-Key` the request can be retried safely: for 24 hours a repetition gets the first response. After that user or the caller was deactivated, a repetition is rejected with 410.",
    callers: ["users:write:all"],
    body: newUser,
    response: {
      status: 201,
      description: "The new user.",
      schema: user,
      links: { itself: userLink, posts: postsLink },
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
        uniqueBody: created.uniqueBody,
        response: created.response,
        varies: ["id", "createdAt"],
      },
    ],
  };
}

function updateUser(schemas: VersionSchemas): OperationDocument {
  const { user, changes } = schemas;
  const { theme, adaAsOwner } = schemas.examples;
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
      links: { itself: userLink },
    },
    problems: ["BAD_USER_INPUT", "CONFLICT", "NOT_FOUND", ...schemas.goneCodes],
    examples: [
      {
        name: "darkTheme",
        summary: "Ada chooses the dark theme",
        as: "ada",
        path: "/users/1",
        headers: { "If-Match": "*" },
        body: theme,
        response: adaAsOwner,
        varies: [...volatile, "prefs"],
      },
    ],
  };
}

/** A route without an operation does not compile; one without an operation for a version fails in `npm run generate`. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Users", description: "User accounts." },
  operations: {
    listUsers: { 1: listUsers(schemasV1), 2: listUsers(schemasV2) },
    getUser: { 1: getUser(schemasV1), 2: getUser(schemasV2) },
    createUser: { 1: createUser(schemasV1), 2: createUser(schemasV2) },
    updateUser: { 1: updateUser(schemasV1), 2: updateUser(schemasV2) },
  },
};
