import { requireBody } from "@tributary/kit/rest/body";
import { parseShape } from "@tributary/kit/errors/validate";
import { z } from "zod";
import {
  contentFormat,
  defaultFormat,
  type NewPost,
  postBody,
  type PostChanges,
  postContent,
  postFields,
  postStatus,
} from "../model.ts";

const noContent = { text: null, format: defaultFormat } as const;

const newPostV1 = z
  .strictObject({ ...postFields.created, body: postBody.nullish() })
  .transform(({ body, ...fields }): NewPost => ({ ...fields, text: body ?? null, format: defaultFormat }));

const postChangesV1 = z
  .strictObject({
    ...postFields.changed,
    body: postBody.nullish(),
    published: z.boolean("published is true or false.").optional(),
  })
  .transform(({ body, published, ...fields }): PostChanges => ({ ...fields, text: body, published }));

const newPostV2 = z
  .strictObject({ ...postFields.created, content: postContent.nullish() })
  .transform(({ content, ...fields }): NewPost => {
    const { format, text } = content ?? noContent;
    return { ...fields, format, text };
  });

/** Text or format may be sent alone (RFC 7396), but only `content` as a whole may be null: that deletes the text and resets the format. */
const postChangesV2 = z
  .strictObject({
    ...postFields.changed,
    content: z.strictObject({ format: contentFormat.optional(), text: postBody.optional() }).nullish(),
    status: postStatus.optional(),
  })
  .transform(({ content, status, ...fields }): PostChanges => {
    const textChange = content === null ? noContent : content;
    return { ...fields, status, ...textChange };
  });

export type NewPostV1 = z.input<typeof newPostV1>;
export type PostChangesV1 = z.input<typeof postChangesV1>;
export type NewPostV2 = z.input<typeof newPostV2>;
export type PostChangesV2 = z.input<typeof postChangesV2>;

/** Version 1 has the text as `body`, without a format. */
export const readNewPostV1 = (input: unknown): NewPost => parseShape(newPostV1, requireBody(input));

/** A merge patch (RFC 7396). `published: true` publishes; `false` archives a published post and changes no other. */
export const readPostChangesV1 = (input: unknown): PostChanges => parseShape(postChangesV1, requireBody(input));

/** Version 2 has the text with its format as `content`. */
export const readNewPostV2 = (input: unknown): NewPost => parseShape(newPostV2, requireBody(input));

/** A merge patch (RFC 7396) over the fields of version 2. `status` is the new status (model.ts has the permitted changes). */
export const readPostChangesV2 = (input: unknown): PostChanges => parseShape(postChangesV2, requireBody(input));
