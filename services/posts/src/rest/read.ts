import { requireBody } from "@tributary/kit/rest";
import { readShape } from "@tributary/kit/validate";
import { z } from "zod";
import { body, defaultFormat, type NewPost, type PostChanges, title } from "../model.ts";

const newPostV1 = z
  .strictObject({ title, body: body.nullish() })
  .transform(({ title, body }): NewPost => ({ title, text: body ?? null, format: defaultFormat }));

const postChangesV1 = z
  .strictObject({
    title: title.optional(),
    body: body.nullish(),
    published: z.boolean("published is true or false.").optional(),
  })
  .transform(({ title, body, published }): PostChanges => ({ title, text: body, published }));

/** Version 1 knows no formats: its text is `body`. */
export const readNewPostV1 = (input: unknown): NewPost => readShape(newPostV1, requireBody(input));

/** A merge patch (RFC 7396) over the fields of version 1; `published` moves the post. */
export const readPostChangesV1 = (input: unknown): PostChanges => readShape(postChangesV1, requireBody(input));
