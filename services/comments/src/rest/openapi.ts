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
import { commentBody } from "../model.ts";
import type { routes } from "./routes.ts";

/** The schemas and names that differ between versions. */
interface VersionSchemas {
  readonly comment: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newComment: z.ZodType;
  readonly change: z.ZodType;
  /** The name of the field with the comment's text. */
  readonly textField: "text" | "body";
  readonly deletedAs: "NOT_FOUND" | "GONE";
}

const textInput = withTextLimits(commentBody, { min: 1, max: 5_000 });
const textOutput = responseText(5_000, "Well said.");
const postIdInput = z
  .string()
  .min(1)
  .max(18)
  .regex(/^[1-9][0-9]{0,17}$/)
  .meta({ description: "The post to comment on. The service does not check that the post exists.", examples: ["1"] });

const commonFields = {
  id: opaqueId("The comment's id.", "1"),
  postId: opaqueId("The post that the comment is about.", "1"),
  authorId: opaqueId("The user who wrote it.", "1"),
  createdAt: timestamp("When the comment was created."),
  editedAt: timestamp("When the comment was last changed.").nullable(),
};

const schemasV1: VersionSchemas = {
  comment: z.strictObject({ ...commonFields, text: textOutput }).meta({ id: "Comment" }),
  list: bareList,
  newComment: z.strictObject({ postId: postIdInput, text: textInput }).meta({ id: "NewComment" }),
  change: z.strictObject({ text: textInput }).meta({ id: "CommentChange" }),
  textField: "text",
  deletedAs: "NOT_FOUND",
};

const schemasV2: VersionSchemas = {
  comment: z.strictObject({ ...commonFields, body: textOutput }).meta({ id: "Comment" }),
  list: pageOf,
  newComment: z.strictObject({ postId: postIdInput, body: textInput }).meta({ id: "NewComment" }),
  change: z.strictObject({ body: textInput }).meta({ id: "CommentChange" }),
  textField: "body",
  deletedAs: "GONE",
};

const path = { id: opaqueId("The comment's id.", "1") };
const volatile = ["id", "postId", "authorId", "createdAt", "editedAt"];

const links = {
  itself: {
    operation: "getComment",
    parameters: { id: "$response.body#/id" },
    description: "This comment.",
  },
  author: {
    operation: "getUser",
    parameters: { id: "$response.body#/authorId" },
    description: "The user who wrote it.",
  },
  post: {
    operation: "getPost",
    parameters: { id: "$response.body#/postId" },
    description: "The post that the comment is about.",
  },
};

function example({ textField }: VersionSchemas, text: string): object {
  const createdAt = "2026-11-21T09:30:00.000Z";
  return { id: "1", postId: "1", authorId: "1", [textField]: text, createdAt, editedAt: null };
}

function page(schemas: VersionSchemas, items: readonly object[]): unknown {
  return schemas.list === bareList
    ? items
    : { data: items, page: { next: "TPrD0eO4pAhOgq0gIkPFym45OTk4", prev: null } };
}

function list(
  schemas: VersionSchemas,
  description: string,
  of: Pick<OperationDocument, "path" | "query">,
  url: string,
): OperationDocument {
  return {
    description,
    callers: "everyone",
    ...of,
    response: {
      status: 200,
      description: "A page of comments.",
      schema: schemas.list(schemas.comment),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "newest",
        summary: "The newest comment",
        path: url,
        status: 200,
        response: page(schemas, [example(schemas, "Well said.")]),
        varies: [...volatile, schemas.textField, "next"],
      },
    ],
  };
}

function listComments(schemas: VersionSchemas): OperationDocument {
  const query = {
    ...pageFields,
    postId: anyId("Only comments on this post; none for an unknown id.", "1"),
    authorId: anyId("Only comments by this user; none for an unknown id.", "1"),
    ...sortField,
  };
  return list(schemas, "All comments that are not deleted, newest first.", { query }, "/comments?limit=1");
}

function listPostComments(schemas: VersionSchemas): OperationDocument {
  const description = "Comments on one post, newest first. An empty list for an unknown post.";
  const of = { path: { id: anyIdInPath("The post's id.", "1") }, query: { ...pageFields, ...sortField } };
  return list(schemas, description, of, "/posts/1/comments?limit=1");
}

function getComment(schemas: VersionSchemas): OperationDocument {
  return {
    description: "A comment.",
    callers: "everyone",
    path,
    response: {
      status: 200,
      description: "The comment.",
      schema: schemas.comment,
      headers: ["ETag", "Last-Modified"],
      links: { author: links.author, post: links.post },
    },
    problems: ["NOT_FOUND", ...goneOf(schemas)],
    examples: [
      {
        name: "comment",
        summary: "A comment",
        follows: "addComment",
        path: "/comments/1",
        status: 200,
        response: example(schemas, "Well said."),
        varies: volatile,
      },
    ],
  };
}

function addComment(schemas: VersionSchemas): OperationDocument {
  return {
    description:
      "Adds a comment to a post. With an `Idempotency-Key` the request can be retried safely: for 24 hours a repetition gets the first response.",
    callers: ["comments:write"],
    body: schemas.newComment,
    response: {
      status: 201,
      description: "The new comment.",
      schema: schemas.comment,
      headers: ["ETag", "Last-Modified", "Location", "Idempotency-Replayed"],
      links,
    },
    problems: ["BAD_USER_INPUT"],
    examples: [
      {
        name: "praise",
        summary: "Ada comments on a post",
        as: "ada",
        path: "/comments",
        body: { postId: "1", [schemas.textField]: "Well said." },
        status: 201,
        response: example(schemas, "Well said."),
        varies: ["id", "createdAt"],
      },
    ],
  };
}

function editComment(schemas: VersionSchemas): OperationDocument {
  return {
    description:
      "Applies a JSON Merge Patch (RFC 7396) to the comment's text. Only the author may change it, within 15 minutes of its creation; later it is 409.",
    callers: ["comments:write"],
    path,
    body: schemas.change,
    ifMatch: "required",
    response: {
      status: 200,
      description: "The changed comment.",
      schema: schemas.comment,
      headers: ["ETag", "Last-Modified"],
      links,
    },
    problems: ["BAD_USER_INPUT", "NOT_FOUND", "INVALID_STATE", ...goneOf(schemas)],
    examples: [
      {
        name: "secondThought",
        summary: "Ada changes her comment",
        as: "ada",
        follows: "addComment",
        path: "/comments/1",
        headers: { "If-Match": "*" },
        body: { [schemas.textField]: "Very well said." },
        status: 200,
        response: { ...example(schemas, "Very well said."), editedAt: "2026-11-21T09:31:00.000Z" },
        varies: volatile,
      },
    ],
  };
}

function deleteComment(schemas: VersionSchemas): OperationDocument {
  return {
    description: "Deletes a comment. Only the author, or a caller with the scope `comments:write:all`, may delete it.",
    callers: ["comments:write", "comments:write:all"],
    path,
    ifMatch: "optional",
    response: { status: 204, description: "The comment is deleted." },
    problems: ["NOT_FOUND", ...goneOf(schemas)],
    examples: [
      {
        name: "regret",
        summary: "Ada deletes her comment",
        as: "ada",
        follows: "addComment",
        path: "/comments/1",
        status: 204,
      },
    ],
  };
}

function goneOf({ deletedAs }: VersionSchemas): readonly "GONE"[] {
  return deletedAs === "GONE" ? [deletedAs] : [];
}

/** The OpenAPI operations of this service. `npm run generate` merges the operations of all services into one document per version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Comments", description: "Comments on posts." },
  operations: {
    listComments: { 1: listComments(schemasV1), 2: listComments(schemasV2) },
    getComment: { 1: getComment(schemasV1), 2: getComment(schemasV2) },
    listPostComments: { 1: listPostComments(schemasV1), 2: listPostComments(schemasV2) },
    addComment: { 1: addComment(schemasV1), 2: addComment(schemasV2) },
    editComment: { 1: editComment(schemasV1), 2: editComment(schemasV2) },
    deleteComment: { 1: deleteComment(schemasV1), 2: deleteComment(schemasV2) },
  },
};
