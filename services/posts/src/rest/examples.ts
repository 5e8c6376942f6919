// Shown in the OpenAPI documents. A test sends the requests and compares the responses, except for `varies`.
import { postFields } from "../model.ts";
import type { NewPostV1, NewPostV2, PostChangesV1, PostChangesV2 } from "./read.ts";
import type { PostV1, PostV2 } from "./schemas.ts";

interface PostExamples<ResponseBody, NewBody, ChangesBody> {
  readonly published: ResponseBody;
  /** A new post: its id follows those of the seeded posts. */
  readonly draft: { readonly body: NewBody; readonly response: ResponseBody };
  /** Post 2, whose title the example of `updatePost` changes. */
  readonly renamed: { readonly body: ChangesBody; readonly response: ResponseBody };
}

const publishedDates = {
  createdAt: "2024-10-31T19:57:26.131Z",
  updatedAt: "2024-11-01T07:57:26.131Z",
  publishedAt: "2024-11-01T07:57:26.131Z",
};
const draftDates = { createdAt: "2026-11-21T09:30:00.000Z", updatedAt: "2026-11-21T09:30:00.000Z", publishedAt: null };
const fields = postFields.examples;
const text = "It begins with a loom.";
const newTitle = { title: "Notes on a loom" };

const publishedV1: PostV1 = { id: "1", ...fields, body: text, published: true, authorId: "2", ...publishedDates };

export const examplesV1: PostExamples<PostV1, NewPostV1, PostChangesV1> = {
  published: publishedV1,
  draft: {
    body: { ...fields, body: text },
    response: { id: "10001", ...fields, body: text, published: false, authorId: "1", ...draftDates },
  },
  renamed: { body: newTitle, response: { ...publishedV1, id: "2", ...newTitle } },
};

const publishedV2: PostV2 = {
  id: "1",
  ...fields,
  status: "PUBLISHED",
  content: { format: "PLAIN", text },
  author: { id: "2", href: "/v2/users/2" },
  ...publishedDates,
};

export const examplesV2: PostExamples<PostV2, NewPostV2, PostChangesV2> = {
  published: publishedV2,
  draft: {
    body: { ...fields, content: { format: "MARKDOWN", text } },
    response: {
      id: "10002",
      ...fields,
      status: "DRAFT",
      content: { format: "MARKDOWN", text },
      author: { id: "1", href: "/v2/users/1" },
      ...draftDates,
    },
  },
  renamed: { body: newTitle, response: { ...publishedV2, id: "2", ...newTitle } },
};
