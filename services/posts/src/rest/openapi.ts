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
import { body, contentFormat, postStatus, title } from "../model.ts";
import type { routes } from "./routes.ts";

/** What one version has of its own. */
interface Words {
  readonly version: 1 | 2;
  readonly post: z.ZodType;
  readonly list: (items: z.ZodType) => z.ZodType;
  readonly newPost: z.ZodType;
  readonly changes: z.ZodType;
  readonly moving: string;
  readonly first: object;
  readonly draft: { readonly body: object; readonly answer: object };
  readonly renamed: object;
}

const givenTitle = withTextLimits(title, { min: 1, max: 200 });
const givenText = withTextLimits(body, { min: 0, max: 60_000 }).meta({
  description: "The text: at most 60,000 characters, and 60,000 bytes as JSON (UTF-8, without the quotes).",
});
/** Posts that were written before the limit of `body`. */
const shownBody = shownText(100_000, "It begins with a loom.");

const shown = {
  id: opaqueId("The post's id.", "1"),
  title: shownText(200, "On the Analytical Engine"),
  createdAt: timestamp("When the post was begun."),
  updatedAt: timestamp("When title or text last changed."),
  publishedAt: timestamp("When it was published first.").nullable(),
};

const postV1 = z
  .strictObject({
    ...shown,
    body: shownBody.nullable(),
    published: z.boolean(),
    authorId: opaqueId("The user who wrote it.", "2"),
  })
  .meta({ id: "Post" });

const postV2 = z
  .strictObject({
    ...shown,
    status: postStatus,
    content: z
      .strictObject({ format: contentFormat, text: shownBody })
      .nullable()
      .meta({ description: "Null while nothing is written." }),
    author: z.strictObject({
      id: opaqueId("The user who wrote it.", "2"),
      href: z
        .string()
        .max(128)
        .regex(/^\/v2\/users\/[A-Za-z0-9._-]+$/)
        .meta({ format: "uri-reference", description: "Where the user is.", examples: ["/v2/users/2"] }),
    }),
  })
  .meta({ id: "Post" });

const moments = {
  createdAt: "2024-10-31T19:57:26.131Z",
  updatedAt: "2024-11-01T07:57:26.131Z",
  publishedAt: "2024-11-01T07:57:26.131Z",
};
const now = { createdAt: "2026-11-21T09:30:00.000Z", updatedAt: "2026-11-21T09:30:00.000Z", publishedAt: null };
const written = "It begins with a loom.";
const engine = "On the Analytical Engine";

const wordsV1: Words = {
  version: 1,
  post: postV1,
  list: bareList,
  newPost: z.strictObject({ title: givenTitle, body: givenText.nullish() }).meta({ id: "NewPost" }),
  changes: z
    .strictObject({
      title: givenTitle.optional(),
      body: givenText.nullish(),
      published: z.boolean().optional(),
    })
    .meta({ id: "PostChanges" }),
  moving: "`published` publishes it (`true`) or archives it (`false`)",
  first: { id: "1", title: engine, body: written, published: true, authorId: "2", ...moments },
  draft: {
    body: { title: engine, body: written },
    answer: { id: "10001", title: engine, body: written, published: false, authorId: "1", ...now },
  },
  renamed: { id: "2", title: "Notes on a loom", body: written, published: true, authorId: "2", ...moments },
};

const wordsV2: Words = {
  version: 2,
  post: postV2,
  list: pageOf,
  newPost: z
    .strictObject({
      title: givenTitle,
      content: z.strictObject({ format: contentFormat, text: givenText }).nullish(),
    })
    .meta({ id: "NewPost" }),
  changes: z
    .strictObject({
      title: givenTitle.optional(),
      content: z.strictObject({ format: contentFormat.optional(), text: givenText.optional() }).nullish(),
      status: postStatus.optional(),
    })
    .meta({ id: "PostChanges" }),
  moving: "`status` moves it: to `PUBLISHED` from any other, to `ARCHIVED` from `PUBLISHED`",
  first: {
    id: "1",
    title: engine,
    status: "PUBLISHED",
    content: { format: "PLAIN", text: written },
    author: { id: "2", href: "/v2/users/2" },
    ...moments,
  },
  draft: {
    body: { title: engine, content: { format: "MARKDOWN", text: written } },
    answer: {
      id: "10002",
      title: engine,
      status: "DRAFT",
      content: { format: "MARKDOWN", text: written },
      author: { id: "1", href: "/v2/users/1" },
      ...now,
    },
  },
  renamed: {
    id: "2",
    title: "Notes on a loom",
    status: "PUBLISHED",
    content: { format: "PLAIN", text: written },
    author: { id: "2", href: "/v2/users/2" },
    ...moments,
  },
};

const path = { id: opaqueId("The post's id.", "1") };
const status = postStatus.meta({
  default: "PUBLISHED",
  description: "Other than `PUBLISHED` needs a token: an author sees their own, `posts:read:all` sees all.",
});
const volatile = ["id", "createdAt", "updatedAt", "publishedAt"];
const ofOthers = [...volatile, "body", "content", "author", "authorId", "title"];

function linksOf({ version }: Words) {
  const author = version === 1 ? "$response.body#/authorId" : "$response.body#/author/id";
  return {
    itself: {
      operation: "getPost",
      parameters: { id: "$response.body#/id" },
      description: "The same post. `Location` leads to it as well.",
    },
    author: { operation: "getUser", parameters: { id: author }, description: "The user who wrote it." },
    comments: {
      operation: "listPostComments",
      parameters: { id: "$response.body#/id" },
      description: "What was said about it.",
    },
  };
}

function page({ version }: Words, items: readonly object[]): unknown {
  return version === 1 ? items : { data: items, page: { next: "TPrD0eO4pAhOgq0gIkPFym45OTk4", prev: null } };
}

function listPosts(words: Words): OperationDocument {
  return {
    description: "Published posts, newest first.",
    callers: "anybody",
    query: {
      ...pageFields,
      status,
      authorId: anyId("Only posts of this user; none for an id that nobody has.", "2"),
      search: withTextLimits(z.string(), { min: 1, max: 80 }).meta({
        description: "Words that begin words of the title.",
      }),
      ...sortField,
    },
    answer: {
      status: 200,
      description: "A page of posts.",
      schema: words.list(words.post),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "newest",
        summary: "The newest post",
        path: "/posts?limit=1",
        status: 200,
        answer: page(words, [words.first]),
        varies: [...ofOthers, "next"],
      },
    ],
  };
}

function listUserPosts(words: Words): OperationDocument {
  return {
    description: "Published posts of one user, newest first. An empty list for a user whom nobody knows.",
    callers: "anybody",
    path: { id: anyIdInPath("The user's id.", "2") },
    query: { ...pageFields, status, ...sortField },
    answer: {
      status: 200,
      description: "A page of posts.",
      schema: words.list(words.post),
      headers: ["ETag", "Link"],
    },
    examples: [
      {
        name: "newestOfGrace",
        summary: "Grace's newest post",
        path: "/users/2/posts?limit=1",
        status: 200,
        answer: page(words, [words.first]),
        varies: [...ofOthers, "next"],
      },
    ],
  };
}

function getPost(words: Words): OperationDocument {
  const { author, comments } = linksOf(words);
  return {
    description: "A post. One that is not published exists for its author and for the scope `posts:read:all` alone.",
    callers: "anybody",
    path,
    answer: {
      status: 200,
      description: "The post.",
      schema: words.post,
      headers: ["ETag"],
      links: { author, comments },
    },
    problems: ["NOT_FOUND"],
    examples: [
      {
        name: "published",
        summary: "A published post",
        path: "/posts/1",
        status: 200,
        answer: words.first,
        varies: ofOthers,
      },
    ],
  };
}

function createPost(words: Words): OperationDocument {
  return {
    description:
      "Begins a post: a draft of the caller's, which nobody else sees. The whole body has at most 65,536 bytes.",
    callers: ["posts:write"],
    body: words.newPost,
    answer: {
      status: 201,
      description: "The draft.",
      schema: words.post,
      headers: ["ETag", "Location"],
      links: linksOf(words),
    },
    problems: ["BAD_USER_INPUT"],
    examples: [
      {
        name: "draft",
        summary: "Ada begins a post",
        as: "ada",
        path: "/posts",
        body: words.draft.body,
        status: 201,
        answer: words.draft.answer,
        varies: volatile,
      },
    ],
  };
}

function updatePost(words: Words): OperationDocument {
  return {
    description: `A JSON Merge Patch (RFC 7396): what is left out stays, null clears; ${words.moving}. For its author, and for the scope \`posts:write:all\`.`,
    callers: ["posts:write", "posts:write:all"],
    path,
    body: words.changes,
    ifMatch: "required",
    answer: {
      status: 200,
      description: "The post as it is now.",
      schema: words.post,
      headers: ["ETag"],
      links: linksOf(words),
    },
    // Version 1 says where the post shall be; what is there already, or cannot get there, stays.
    problems: ["BAD_USER_INPUT", "NOT_FOUND", ...(words.version === 1 ? [] : (["INVALID_STATE"] as const))],
    examples: [
      {
        name: "newTitle",
        summary: "An editor finds a better title",
        as: "grace",
        scopes: ["posts:write:all"],
        path: "/posts/2",
        headers: { "If-Match": "*" },
        body: { title: "Notes on a loom" },
        status: 200,
        answer: words.renamed,
        varies: ofOthers.filter((name) => name !== "title"),
      },
    ],
  };
}

/** The chapter of the posts. Composition merges it with the other teams' into one document for each version. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Posts", description: "What users write: drafts, published and archived posts." },
  operations: {
    listPosts: { 1: listPosts(wordsV1), 2: listPosts(wordsV2) },
    getPost: { 1: getPost(wordsV1), 2: getPost(wordsV2) },
    listUserPosts: { 1: listUserPosts(wordsV1), 2: listUserPosts(wordsV2) },
    createPost: { 1: createPost(wordsV1), 2: createPost(wordsV2) },
    updatePost: { 1: updatePost(wordsV1), 2: updatePost(wordsV2) },
  },
};
