// The running service imports only the types. `documentsRequestBody` compares each schema with the type in read.ts, at compile time.
import { documentChanges, documentFields, documentNewFields } from "@tributary/kit/openapi/field-schemas";
import { opaqueId, responseText, timestamp, withTextLimits } from "@tributary/kit/openapi/schemas";
import { documentsRequestBody } from "@tributary/kit/rest/documented-bodies";
import { z } from "zod";
import { contentFormat, postBody, postFields, postStatus } from "../model.ts";
import type { NewPostV1, NewPostV2, PostChangesV1, PostChangesV2 } from "./read.ts";

const textInput = withTextLimits(postBody, { min: 0, max: 60_000 }).meta({
  description: "The text: at most 60,000 characters, and 60,000 bytes as JSON (UTF-8, without the quotes).",
});
/** Posts from before the limit of 60,000 characters have up to 100,000. */
const textOutput = responseText(100_000, "It begins with a loom.");

const commonFields = {
  id: opaqueId("The post's id.", "1"),
  ...documentFields(postFields),
  createdAt: timestamp("When the post was created."),
  updatedAt: timestamp("When the title, the text or the format last changed."),
  publishedAt: timestamp("When it was first published.").nullable(),
};

export const postV1 = z
  .strictObject({
    ...commonFields,
    body: textOutput.nullable(),
    published: z.boolean(),
    authorId: opaqueId("The user who wrote it.", "2"),
  })
  .meta({ id: "Post" });
export type PostV1 = z.output<typeof postV1>;

export const postV2 = z
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
export type PostV2 = z.output<typeof postV2>;

export const newPostV1 = documentsRequestBody<NewPostV1>()(
  z.strictObject({ ...documentNewFields(postFields), body: textInput.nullish() }).meta({ id: "NewPost" }),
);

export const newPostV2 = documentsRequestBody<NewPostV2>()(
  z
    .strictObject({
      ...documentNewFields(postFields),
      content: z.strictObject({ format: contentFormat, text: textInput }).nullish(),
    })
    .meta({ id: "NewPost" }),
);

export const postChangesV1 = documentsRequestBody<PostChangesV1>()(
  z
    .strictObject({
      ...documentChanges(postFields),
      body: textInput.nullish(),
      published: z.boolean().optional(),
    })
    .meta({ id: "PostChanges" }),
);

export const postChangesV2 = documentsRequestBody<PostChangesV2>()(
  z
    .strictObject({
      ...documentChanges(postFields),
      content: z.strictObject({ format: contentFormat.optional(), text: textInput.optional() }).nullish(),
      status: postStatus.optional(),
    })
    .meta({ id: "PostChanges" }),
);
