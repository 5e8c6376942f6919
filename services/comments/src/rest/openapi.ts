import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import {
  anyId,
  anyIdInPath,
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
import { commentBody } from "../model.ts";
import type { routes } from "./routes.ts";

/** What one version has of its own. */
interface Words {
  readonly comment: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newComment: z.ZodType;
  readonly change: z.ZodType;
  /** What it calls a comment's text. */
  readonly said: "text" | "body";
  readonly deletedIs: "NOT_FOUND" | "GONE";
}

const given = withTextLimits(commentBody, { min: 1, max: 5_000 });
const said = shownText(5_000, "Well said.");
const givenPostId = z
  .string()
  .min(1)
  .max(18)
  .regex(/^[1-9][0-9]{0,17}$/)
  .meta({ description: "The post that it is about. Nobody checks whether there is one.", examples: ["1"] });

const shown = {
  id: opaqueId("The comment's id.", "1"),
  postId: opaqueId("The post that it is about.", "1"),
  authorId: opaqueId("The user who wrote it.", "1"),
  createdAt: timestamp("When it was written."),
  editedAt: timestamp("When it was changed last.").nullable(),
};

const wordsV1: Words = {
  comment: z.strictObject({ ...shown, text: said }).meta({ id: "Comment" }),
  list: bareList,
  newComment: z.strictObject({ postId: givenPostId, text: given }).meta({ id: "NewComment" }),
  change: z.strictObject({ text: given }).meta({ id: "CommentChange" }),
  said: "text",
  deletedIs: "NOT_FOUND",
};

const wordsV2: Words = {
  comment: z.strictObject({ ...shown, body: said }).meta({ id: "Comment" }),
  list: pageOf,
  newComment: z.strictObject({ postId: givenPostId, body: given }).meta({ id: "NewComment" }),
  change: z.strictObject({ body: given }).meta({ id: "CommentChange" }),
  said: "body",
  deletedIs: "GONE",
};

const path = { id: opaqueId("The comment's id.", "1") };
const volatile = ["id", "postId", "authorId", "createdAt", "editedAt"];

const links = {
  itself: {
    operation: "getComment",
    parameters: { id: "$response.body#/id" },
    description: "The same comment. `Location` leads to it as well.",
  },
  author: {
    operation: "getUser",
    parameters: { id: "$response.body#/authorId" },
    description: "The user who wrote it.",
  },
  post: { operation: "getPost", parameters: { id: "$response.body#/postId" }, description: "The post it is about." },
};

function example({ said }: Words, text: string): object {
  const createdAt = "2026-11-21T09:30:00.000Z";
  return { id: "1", postId: "1", authorId: "1", [said]: text, createdAt, editedAt: null };
}

function page(words: Words, items: readonly object[]): unknown {
  return words.list === bareList ? items : { data: items, page: { next: "TPrD0eO4pAhOgq0gIkPFym45OTk4", prev: null } };
}

function list(
  words: Words,
  description: string,
  of: Pick<OperationDocument, "path" | "query">,
  url: string,
): OperationDocument {
  return {
    description,
    callers: "anybody",
    ...of,
    answer: {
      status: 200,
      description: "A page of comments.",
      schema: words.list(words.comment),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "newest",
        summary: "The newest comment",
        path: url,
        status: 200,
        answer: page(words, [example(words, "Well said.")]),
        varies: [...volatile, words.said, "next"],
      },
    ],
  };
}

function listComments(words: Words): OperationDocument {
  const query = {
    ...pageFields,
    postId: anyId("Only comments on this post; none for an id that nobody has.", "1"),
    authorId: anyId("Only comments by this user; none for an id that nobody has.", "1"),
    ...sortField,
  };
  return list(words, "Comments that were not deleted, newest first.", { query }, "/comments?limit=1");
}

function listPostComments(words: Words): OperationDocument {
  const description = "Comments on one post, newest first. An empty list for a post that nobody knows.";
  const of = { path: { id: anyIdInPath("The post's id.", "1") }, query: { ...pageFields, ...sortField } };
  return list(words, description, of, "/posts/1/comments?limit=1");
}

function getComment(words: Words): OperationDocument {
  return {
    description: "A comment.",
    callers: "anybody",
    path,
    answer: {
      status: 200,
      description: "The comment.",
      schema: words.comment,
      headers: ["ETag", "Last-Modified"],
      links: { author: links.author, post: links.post },
    },
    problems: ["NOT_FOUND", ...goneOf(words)],
    examples: [
      {
        name: "comment",
        summary: "A comment",
        follows: "addComment",
        path: "/comments/1",
        status: 200,
        answer: example(words, "Well said."),
        varies: volatile,
      },
    ],
  };
}

function addComment(words: Words): OperationDocument {
  return {
    description: "Says something about a post.",
    callers: ["comments:write"],
    body: words.newComment,
    answer: {
      status: 201,
      description: "The new comment.",
      schema: words.comment,
      headers: ["ETag", "Last-Modified", "Location"],
      links,
    },
    problems: ["BAD_USER_INPUT"],
    examples: [
      {
        name: "praise",
        summary: "Ada says something",
        as: "ada",
        path: "/comments",
        body: { postId: "1", [words.said]: "Well said." },
        status: 201,
        answer: example(words, "Well said."),
        varies: ["id", "createdAt"],
      },
    ],
  };
}

function editComment(words: Words): OperationDocument {
  return {
    description:
      "A JSON Merge Patch (RFC 7396) of the comment's text. For its author, within 15 minutes; after that it is 409.",
    callers: ["comments:write"],
    path,
    body: words.change,
    ifMatch: "required",
    answer: {
      status: 200,
      description: "The comment as it is now.",
      schema: words.comment,
      headers: ["ETag", "Last-Modified"],
      links,
    },
    problems: ["BAD_USER_INPUT", "NOT_FOUND", "INVALID_STATE", ...goneOf(words)],
    examples: [
      {
        name: "secondThought",
        summary: "Ada thinks again",
        as: "ada",
        follows: "addComment",
        path: "/comments/1",
        headers: { "If-Match": "*" },
        body: { [words.said]: "Very well said." },
        status: 200,
        answer: { ...example(words, "Very well said."), editedAt: "2026-11-21T09:31:00.000Z" },
        varies: volatile,
      },
    ],
  };
}

function deleteComment(words: Words): OperationDocument {
  return {
    description: "Deletes a comment. For its author, and for the scope `comments:write:all`.",
    callers: ["comments:write", "comments:write:all"],
    path,
    ifMatch: "optional",
    answer: { status: 204, description: "It is deleted." },
    problems: ["NOT_FOUND", ...goneOf(words)],
    examples: [
      {
        name: "regret",
        summary: "Ada takes it back",
        as: "ada",
        follows: "addComment",
        path: "/comments/1",
        status: 204,
      },
    ],
  };
}

function goneOf({ deletedIs }: Words): readonly "GONE"[] {
  return deletedIs === "GONE" ? [deletedIs] : [];
}

/** The chapter of the comments. Composition merges it with the other teams' into one document for each version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Comments", description: "What users say about posts." },
  operations: {
    listComments: { 1: listComments(wordsV1), 2: listComments(wordsV2) },
    getComment: { 1: getComment(wordsV1), 2: getComment(wordsV2) },
    listPostComments: { 1: listPostComments(wordsV1), 2: listPostComments(wordsV2) },
    addComment: { 1: addComment(wordsV1), 2: addComment(wordsV2) },
    editComment: { 1: editComment(wordsV1), 2: editComment(wordsV2) },
    deleteComment: { 1: deleteComment(wordsV1), 2: deleteComment(wordsV2) },
  },
};
