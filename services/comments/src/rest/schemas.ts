// The running service imports only the types. `documentsRequestBody` compares each schema with the type in read.ts, at compile time.
import { documentChanges, documentFields, documentNewFields } from "@tributary/kit/openapi/field-schemas";
import { opaqueId, responseText, rowIdInput, timestamp, withTextLimits } from "@tributary/kit/openapi/schemas";
import { documentsRequestBody } from "@tributary/kit/rest/documented-bodies";
import { z } from "zod";
import { commentBody, commentFields } from "../model.ts";
import type { CommentChangeV1, CommentChangeV2, NewCommentV1, NewCommentV2 } from "./read.ts";

const textInput = withTextLimits(commentBody, { min: 1, max: 5_000 });
const textOutput = responseText(5_000, "Well said.");
const postIdInput = rowIdInput("The post to comment on. The service does not check that the post exists.");

const commonFields = {
  id: opaqueId("The comment's id.", "1"),
  postId: opaqueId("The post that the comment is about.", "1"),
  authorId: opaqueId("The user who wrote it.", "1"),
  ...documentFields(commentFields),
  createdAt: timestamp("When the comment was created."),
  editedAt: timestamp("When the comment was last changed.").nullable(),
};

export const commentV1 = z.strictObject({ ...commonFields, text: textOutput }).meta({ id: "Comment" });
export type CommentV1 = z.output<typeof commentV1>;

export const commentV2 = z.strictObject({ ...commonFields, body: textOutput }).meta({ id: "Comment" });
export type CommentV2 = z.output<typeof commentV2>;

export const newCommentV1 = documentsRequestBody<NewCommentV1>()(
  z
    .strictObject({ postId: postIdInput, text: textInput, ...documentNewFields(commentFields) })
    .meta({ id: "NewComment" }),
);

export const newCommentV2 = documentsRequestBody<NewCommentV2>()(
  z
    .strictObject({ postId: postIdInput, body: textInput, ...documentNewFields(commentFields) })
    .meta({ id: "NewComment" }),
);

export const commentChangeV1 = documentsRequestBody<CommentChangeV1>()(
  z.strictObject({ text: textInput, ...documentChanges(commentFields) }).meta({ id: "CommentChange" }),
);

export const commentChangeV2 = documentsRequestBody<CommentChangeV2>()(
  z.strictObject({ body: textInput, ...documentChanges(commentFields) }).meta({ id: "CommentChange" }),
);
