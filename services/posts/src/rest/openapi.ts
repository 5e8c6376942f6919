// The documentation of the REST routes: requests, responses and examples in each version. `npm run generate` and the tests read it; the running
// service does not, and validates by model.ts and read.ts.
import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  anyId,
  anyIdInPath,
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
import { body, contentFormat, postStatus, title } from "../model.ts";
import type { routes } from "./routes.ts";

/** The schemas, descriptions and examples that differ between versions. */
interface VersionSchemas {
  readonly version: 1 | 2;
  readonly post: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newPost: z.ZodType;
  readonly changes: z.ZodType;
  readonly statusChange: string;
  readonly publishedExample: object;
  readonly draftExample: { readonly body: object; readonly response: object };
  readonly renamedExample: object;
}

const titleInput = withTextLimits(title, { min: 1, max: 200 });
const textInput = withTextLimits(body, { min: 0, max: 60_000 }).meta({
  description: "The text: at most 60,000 characters, and 60,000 bytes as JSON (UTF-8, without the quotes).",
});
/** Posts from before the limit of 60,000 characters are longer. */
const textOutput = responseText(100_000, "It begins with a loom.");

const commonFields = {
  id: opaqueId("The post's id.", "1"),
  title: responseText(200, "On the Analytical Engine"),
  createdAt: timestamp("When the post was created."),
  updatedAt: timestamp("When title or text last changed."),
  publishedAt: timestamp("When it was first published.").nullable(),
};

const postV1 = z
  .strictObject({
    ...commonFields,
    body: textOutput.nullable(),
    published: z.boolean(),
    authorId: opaqueId("The user who wrote it.", "2"),
  })
  .meta({ id: "Post" });

const postV2 = z
  .strictObject({
    ...commonFields,
    status: postStatus,
    content: z
      .strictObject({ format: contentFormat, text: textOutput })
      .nullable()
      .meta({ description: "Null while the post has no text." }),
    author: z.strictObject({
      id: opaqueId("The user who wrote it.", "2"),
      href: z
        .string()
        .max(128)
        .regex(/^\/v2\/users\/[A-Za-z0-9._-]+$/)
        .meta({ format: "uri-reference", description: "The path of the user.", examples: ["/v2/users/2"] }),
    }),
  })
  .meta({ id: "Post" });

const exampleDates = {
  createdAt: "2024-10-31T19:57:26.131Z",
  updatedAt: "2024-11-01T07:57:26.131Z",
  publishedAt: "2024-11-01T07:57:26.131Z",
};
const now = { createdAt: "2026-11-21T09:30:00.000Z", updatedAt: "2026-11-21T09:30:00.000Z", publishedAt: null };
const exampleText = "It begins with a loom.";
const exampleTitle = "On the Analytical Engine";

const schemasV1: VersionSchemas = {
  version: 1,
  post: postV1,
  list: bareList,
  newPost: z.strictObject({ title: titleInput, body: textInput.nullish() }).meta({ id: "NewPost" }),
  changes: z
    .strictObject({
      title: titleInput.optional(),
      body: textInput.nullish(),
      published: z.boolean().optional(),
    })
    .meta({ id: "PostChanges" }),
  statusChange: "`published` publishes it (`true`) or archives it (`false`)",
  publishedExample: {
    id: "1",
    title: exampleTitle,
    body: exampleText,
    published: true,
    authorId: "2",
    ...exampleDates,
  },
  draftExample: {
    body: { title: exampleTitle, body: exampleText },
    response: { id: "10001", title: exampleTitle, body: exampleText, published: false, authorId: "1", ...now },
  },
  renamedExample: {
    id: "2",
    title: "Notes on a loom",
    body: exampleText,
    published: true,
    authorId: "2",
    ...exampleDates,
  },
};

const schemasV2: VersionSchemas = {
  version: 2,
  post: postV2,
  list: pageOf,
  newPost: z
    .strictObject({
      title: titleInput,
      content: z.strictObject({ format: contentFormat, text: textInput }).nullish(),
    })
    .meta({ id: "NewPost" }),
  changes: z
    .strictObject({
      title: titleInput.optional(),
      content: z.strictObject({ format: contentFormat.optional(), text: textInput.optional() }).nullish(),
      status: postStatus.optional(),
    })
    .meta({ id: "PostChanges" }),
  statusChange: "`status` changes the status: to `PUBLISHED` from any other, to `ARCHIVED` from `PUBLISHED`",
  publishedExample: {
    id: "1",
    title: exampleTitle,
    status: "PUBLISHED",
    content: { format: "PLAIN", text: exampleText },
    author: { id: "2", href: "/v2/users/2" },
    ...exampleDates,
  },
  draftExample: {
    body: { title: exampleTitle, content: { format: "MARKDOWN", text: exampleText } },
    response: {
      id: "10002",
      title: exampleTitle,
      status: "DRAFT",
      content: { format: "MARKDOWN", text: exampleText },
      author: { id: "1", href: "/v2/users/1" },
      ...now,
    },
  },
  renamedExample: {
    id: "2",
    title: "Notes on a loom",
    status: "PUBLISHED",
    content: { format: "PLAIN", text: exampleText },
    author: { id: "2", href: "/v2/users/2" },
    ...exampleDates,
  },
};

const path = { id: opaqueId("The post's id.", "1") };
const status = postStatus.meta({
  default: "PUBLISHED",
  description:
    "Any value other than `PUBLISHED` requires a token: authors see their own posts, the scope `posts:read:all` shows all.",
});
const volatile = ["id", "createdAt", "updatedAt", "publishedAt"];
const volatileInPosts = [...volatile, "body", "content", "author", "authorId", "title"];

function linksOf({ version }: VersionSchemas) {
  const author = version === 1 ? "$response.body#/authorId" : "$response.body#/author/id";
  return {
    itself: {
      operation: "getPost",
      parameters: { id: "$response.body#/id" },
      description: "This post.",
    },
    author: { operation: "getUser", parameters: { id: author }, description: "The user who wrote it." },
    comments: {
      operation: "listPostComments",
      parameters: { id: "$response.body#/id" },
      description: "The comments on the post.",
    },
  };
}

function page({ version }: VersionSchemas, items: readonly object[]): unknown {
  return version === 1 ? items : { data: items, page: { next: "TPrD0eO4pAhOgq0gIkPFym45OTk4", prev: null } };
}

function listPosts(schemas: VersionSchemas): OperationDocument {
  return {
    description: "Published posts, newest first.",
    callers: "everyone",
    query: {
      ...pageFields,
      status,
      authorId: anyId("Only posts of this user; none for an unknown id.", "2"),
      search: withTextLimits(z.string(), { min: 1, max: 80 }).meta({
        description: "Each word matches the beginning of a word of the title.",
      }),
      ...sortField,
    },
    response: {
      status: 200,
      description: "A page of posts.",
      schema: schemas.list(schemas.post),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "newest",
        summary: "The newest post",
        path: "/posts?limit=1",
        status: 200,
        response: page(schemas, [schemas.publishedExample]),
        varies: [...volatileInPosts, "next"],
      },
    ],
  };
}

function listUserPosts(schemas: VersionSchemas): OperationDocument {
  return {
    description: "Published posts of one user, newest first. An empty list for an unknown user.",
    callers: "everyone",
    path: { id: anyIdInPath("The user's id.", "2") },
    query: { ...pageFields, status, ...sortField },
    response: {
      status: 200,
      description: "A page of posts.",
      schema: schemas.list(schemas.post),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "newestOfGrace",
        summary: "Grace's newest post",
        path: "/users/2/posts?limit=1",
        status: 200,
        response: page(schemas, [schemas.publishedExample]),
        varies: [...volatileInPosts, "next"],
      },
    ],
  };
}

function getPost(schemas: VersionSchemas): OperationDocument {
  const { author, comments } = linksOf(schemas);
  return {
    description:
      "A post. A post that is not published is visible only to its author and with the scope `posts:read:all`; for others it is 404.",
    callers: "everyone",
    path,
    response: {
      status: 200,
      description: "The post.",
      schema: schemas.post,
      headers: ["ETag"],
      links: { author, comments },
    },
    problems: ["NOT_FOUND"],
    examples: [
      {
        name: "published",
        summary: "A published post",
        path: "/posts/1",
        status: 200,
        response: schemas.publishedExample,
        varies: volatileInPosts,
      },
    ],
  };
}

function createPost(schemas: VersionSchemas): OperationDocument {
  return {
    description:
      "Creates a draft with the caller as its author. The request body has at most 65,536 bytes. With an `Idempotency-Key` the request can be retried safely: for 24 hours a repetition gets the first response.",
    callers: ["posts:write"],
    body: schemas.newPost,
    response: {
      status: 201,
      description: "The draft.",
      schema: schemas.post,
      headers: ["ETag", "Location", "Idempotency-Replayed"],
      links: linksOf(schemas),
    },
    problems: ["BAD_USER_INPUT"],
    examples: [
      {
        name: "draft",
        summary: "Ada creates a draft",
        as: "ada",
        path: "/posts",
        body: schemas.draftExample.body,
        status: 201,
        response: schemas.draftExample.response,
        varies: volatile,
      },
    ],
  };
}

function updatePost(schemas: VersionSchemas): OperationDocument {
  return {
    description: `Applies a JSON Merge Patch (RFC 7396): absent members remain, null clears; ${schemas.statusChange}. Only the author, or a caller with the scope \`posts:write:all\`, may change a post.`,
    callers: ["posts:write", "posts:write:all"],
    path,
    body: schemas.changes,
    ifMatch: "required",
    response: {
      status: 200,
      description: "The changed post.",
      schema: schemas.post,
      headers: ["ETag"],
      links: linksOf(schemas),
    },
    // In version 1 `published: false` is no error for a draft: the status remains.
    problems: ["BAD_USER_INPUT", "NOT_FOUND", ...(schemas.version === 1 ? [] : (["INVALID_STATE"] as const))],
    examples: [
      {
        name: "newTitle",
        summary: "An editor changes the title",
        as: "grace",
        scopes: ["posts:write:all"],
        path: "/posts/2",
        headers: { "If-Match": "*" },
        body: { title: "Notes on a loom" },
        status: 200,
        response: schemas.renamedExample,
        varies: volatileInPosts.filter((name) => name !== "title"),
      },
    ],
  };
}

/** The OpenAPI operations of this service. `npm run generate` merges the operations of all services into one document per version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Posts", description: "Drafts, published and archived posts." },
  operations: {
    listPosts: { 1: listPosts(schemasV1), 2: listPosts(schemasV2) },
    getPost: { 1: getPost(schemasV1), 2: getPost(schemasV2) },
    listUserPosts: { 1: listUserPosts(schemasV1), 2: listUserPosts(schemasV2) },
    createPost: { 1: createPost(schemasV1), 2: createPost(schemasV2) },
    updatePost: { 1: updatePost(schemasV1), 2: updatePost(schemasV2) },
  },
};
