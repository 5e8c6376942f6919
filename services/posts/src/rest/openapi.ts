import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  anyId,
  anyIdInPath,
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
import { postFields, postStatus } from "../model.ts";
import { examplesV1, examplesV2 } from "./examples.ts";
import type { routes } from "./routes.ts";
import { newPostV1, newPostV2, postChangesV1, postChangesV2, postV1, postV2 } from "./schemas.ts";

interface VersionSchemas {
  readonly post: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newPost: z.ZodType;
  readonly changes: z.ZodType;
  readonly statusChange: string;
  /** For a status that cannot follow the current one: in version 1 `published: false` leaves the status of a draft. */
  readonly transitionCodes: readonly "INVALID_STATE"[];
  /** A runtime expression (OpenAPI 3.1). */
  readonly authorIdExpression: string;
  readonly examples: typeof examplesV1 | typeof examplesV2;
}

const schemasV1: VersionSchemas = {
  post: postV1,
  list: bareList,
  newPost: newPostV1,
  changes: postChangesV1,
  statusChange: "`published` publishes it (`true`), or archives it if it is published (`false`)",
  transitionCodes: [],
  authorIdExpression: "$response.body#/authorId",
  examples: examplesV1,
};

const schemasV2: VersionSchemas = {
  post: postV2,
  list: pageOf,
  newPost: newPostV2,
  changes: postChangesV2,
  statusChange: "`status` changes the status: to `PUBLISHED` from any other, to `ARCHIVED` from `PUBLISHED`",
  transitionCodes: ["INVALID_STATE"],
  authorIdExpression: "$response.body#/author/id",
  examples: examplesV2,
};

const path = { id: opaqueId("The post's id.", "1") };
const statusFilter = postStatus.meta({
  default: "PUBLISHED",
  description:
    "Any value other than `PUBLISHED` requires a token: authors see their own posts, the scope `posts:read:all` shows all.",
});
/** The test of the examples ignores these: the contents of seeded posts are random too. */
const volatile = ["id", "createdAt", "updatedAt", "publishedAt"];
const volatileInPosts = [...volatile, "body", "content", "author", "authorId", ...postFields.names];

function linksOf({ authorIdExpression }: VersionSchemas) {
  return {
    itself: {
      operation: "getPost",
      parameters: { id: "$response.body#/id" },
      description: "This post.",
    },
    author: {
      operation: "getUser",
      parameters: { id: authorIdExpression },
      description: "The user who wrote it.",
    },
    comments: {
      operation: "listPostComments",
      parameters: { id: "$response.body#/id" },
      description: "The comments on the post.",
    },
  };
}

function listPosts(schemas: VersionSchemas): OperationDocument {
  return {
    description: "Published posts, newest first.",
    callers: "everyone",
    query: {
      ...pageFields,
      status: statusFilter,
      authorId: anyId("Only posts of this user; none for an unknown id.", "2"),
      search: withTextLimits(z.string(), { min: 1, max: 80 }).meta({
        description: "Each word matches the beginning of a word of the title.",
      }),
      ...sortField,
    },
    response: pageResponse(schemas.list, schemas.post, "posts"),
    examples: [
      {
        name: "newest",
        summary: "The newest post",
        path: "/posts?limit=1",
        response: examplePage(schemas.list, schemas.examples.published),
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
    query: { ...pageFields, status: statusFilter, ...sortField },
    response: pageResponse(schemas.list, schemas.post, "posts"),
    examples: [
      {
        name: "newestOfGrace",
        summary: "Grace's newest post",
        path: "/users/2/posts?limit=1",
        response: examplePage(schemas.list, schemas.examples.published),
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
      links: { author, comments },
    },
    problems: ["NOT_FOUND"],
    examples: [
      {
        name: "published",
        summary: "A published post",
        path: "/posts/1",
        response: schemas.examples.published,
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
      links: linksOf(schemas),
    },
    problems: ["BAD_USER_INPUT"],
    examples: [
      {
        name: "draft",
        summary: "Ada creates a draft",
        as: "ada",
        path: "/posts",
        body: schemas.examples.draft.body,
        response: schemas.examples.draft.response,
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
      links: linksOf(schemas),
    },
    problems: ["BAD_USER_INPUT", "NOT_FOUND", ...schemas.transitionCodes],
    examples: [
      {
        name: "newTitle",
        summary: "An editor changes the title",
        as: "grace",
        scopes: ["posts:write:all"],
        path: "/posts/2",
        headers: { "If-Match": "*" },
        body: schemas.examples.renamed.body,
        response: schemas.examples.renamed.response,
        varies: volatileInPosts.filter((name) => name !== "title"),
      },
    ],
  };
}

/** A route without an operation does not compile; one without an operation for a version fails in `npm run generate`. */
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
