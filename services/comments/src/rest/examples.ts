// Shown in the OpenAPI documents. A test sends the requests and compares the responses, except for `varies`.
import { commentFields } from "../model.ts";
import type { CommentChangeV1, CommentChangeV2, NewCommentV1, NewCommentV2 } from "./read.ts";
import type { CommentV1, CommentV2 } from "./schemas.ts";

interface CommentExamples<ResponseBody, NewBody, ChangeBody> {
  readonly added: { readonly body: NewBody; readonly response: ResponseBody };
  readonly edited: { readonly body: ChangeBody; readonly response: ResponseBody };
}

const praise = "Well said.";
const secondThought = "Very well said.";
const fields = commentFields.examples;
const ids = { id: "1", postId: "1", authorId: "1" };
const createdAt = "2026-11-21T09:30:00.000Z";
const editedAt = "2026-11-21T09:31:00.000Z";

export const examplesV1: CommentExamples<CommentV1, NewCommentV1, CommentChangeV1> = {
  added: {
    body: { postId: "1", text: praise, ...fields },
    response: { ...ids, text: praise, ...fields, createdAt, editedAt: null },
  },
  edited: { body: { text: secondThought }, response: { ...ids, text: secondThought, ...fields, createdAt, editedAt } },
};

export const examplesV2: CommentExamples<CommentV2, NewCommentV2, CommentChangeV2> = {
  added: {
    body: { postId: "1", body: praise, ...fields },
    response: { ...ids, body: praise, ...fields, createdAt, editedAt: null },
  },
  edited: { body: { body: secondThought }, response: { ...ids, body: secondThought, ...fields, createdAt, editedAt } },
};
