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
} from "@tributary/kit/openapi/schemas";
import type { z } from "zod";
import { commentFields } from "../model.ts";
import { examplesV1, examplesV2 } from "./examples.ts";
import type { routes } from "./routes.ts";
import { commentChangeV1, commentChangeV2, commentV1, commentV2, newCommentV1, newCommentV2 } from "./schemas.ts";

interface VersionSchemas {
  readonly comment: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newComment: z.ZodType;
  readonly change: z.ZodType;
  /** For a deleted comment, besides NOT_FOUND. */
  readonly goneCodes: readonly "GONE"[];
  readonly examples: typeof examplesV1 | typeof examplesV2;
}

const schemasV1: VersionSchemas = {
  comment: commentV1,
  list: bareList,
  newComment: newCommentV1,
  change: commentChangeV1,
  goneCodes: [],
  examples: examplesV1,
};

const schemasV2: VersionSchemas = {
  comment: commentV2,
  list: pageOf,
  newComment: newCommentV2,
  change: commentChangeV2,
  goneCodes: ["GONE"],
  examples: examplesV2,
};

const path = { id: opaqueId("The comment's id.", "1") };
/** Members whose values the test of the examples ignores; in a list, any comment may be the newest. */
const volatile = ["id", "postId", "authorId", "createdAt", "editedAt"];
const volatileInComments = [...volatile, "text", "body", ...commentFields.names, "next"];

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

function documentList(
  schemas: VersionSchemas,
  description: string,
  parameters: Pick<OperationDocument, "path" | "query">,
  examplePath: string,
): OperationDocument {
  return {
    description,
    callers: "everyone",
    ...parameters,
    response: pageResponse(schemas.list, schemas.comment, "comments"),
    examples: [
      {
        name: "newest",
        summary: "The newest comment",
        path: examplePath,
        response: examplePage(schemas.list, schemas.examples.added.response),
        varies: volatileInComments,
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
  return documentList(schemas, "All comments that are not deleted, newest first.", { query }, "/comments?limit=1");
}

function listPostComments(schemas: VersionSchemas): OperationDocument {
  const description = "Comments on one post, newest first. An empty list for an unknown post.";
  const parameters = { path: { id: anyIdInPath("The post's id.", "1") }, query: { ...pageFields, ...sortField } };
  return documentList(schemas, description, parameters, "/posts/1/comments?limit=1");
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
      headers: ["Last-Modified"],
      links: { author: links.author, post: links.post },
    },
    problems: ["NOT_FOUND", ...schemas.goneCodes],
    examples: [
      {
        name: "comment",
        summary: "A comment",
        follows: "addComment",
        path: "/comments/1",
        response: schemas.examples.added.response,
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
      headers: ["Last-Modified"],
      links,
    },
    problems: ["BAD_USER_INPUT"],
    examples: [
      {
        name: "praise",
        summary: "Ada comments on a post",
        as: "ada",
        path: "/comments",
        body: schemas.examples.added.body,
        response: schemas.examples.added.response,
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
      headers: ["Last-Modified"],
      links,
    },
    problems: ["BAD_USER_INPUT", "NOT_FOUND", "INVALID_STATE", ...schemas.goneCodes],
    examples: [
      {
        name: "secondThought",
        summary: "Ada changes her comment",
        as: "ada",
        follows: "addComment",
        path: "/comments/1",
        headers: { "If-Match": "*" },
        body: schemas.examples.edited.body,
        response: schemas.examples.edited.response,
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
    problems: ["NOT_FOUND", ...schemas.goneCodes],
    examples: [
      {
        name: "regret",
        summary: "Ada deletes her comment",
        as: "ada",
        follows: "addComment",
        path: "/comments/1",
      },
    ],
  };
}

/** A route without an operation does not compile; one without an operation for a version fails in `npm run generate`. */
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
