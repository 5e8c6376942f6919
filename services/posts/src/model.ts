import { type ChangesOf, defineFields, type NewValuesOf, type ValuesOf } from "@tributary/kit/fields/fields";
import { idempotencyKeyInput } from "@tributary/kit/idempotency/idempotency-key";
import { listOrder, type ListOrder, optionalFilter } from "@tributary/kit/lists/list-order";
import { parseShape, text } from "@tributary/kit/errors/validate";
import { z } from "zod";

const postStatuses = ["DRAFT", "PUBLISHED", "ARCHIVED"] as const;
export type PostStatus = (typeof postStatuses)[number];

const contentFormats = ["PLAIN", "MARKDOWN"] as const;
export type ContentFormat = (typeof contentFormats)[number];

/** The fields with one name in the graph and in both REST versions. CONTRIBUTING.md, "Add a field". */
export const postFields = defineFields({
  title: { text: { min: 1, max: 200, what: "A title" }, example: "On the Analytical Engine" },
});

/** The fields that decide who may read a post, and what its ETag is. */
export interface PostState {
  readonly id: string;
  readonly authorId: string;
  readonly status: PostStatus;
  readonly rowVersion: string;
}

/** A post without its text. */
export interface BriefPost extends PostState, ValuesOf<typeof postFields> {
  readonly format: ContentFormat;
  readonly createdAt: Date;
  /** When title, text or format last changed. */
  readonly updatedAt: Date;
  /** When it was first published, also if it is archived now; null for a draft. */
  readonly publishedAt: Date | null;
}

export interface Post extends BriefPost {
  /** Null while the post has no text. */
  readonly text: string | null;
}

/** A post as loaded: with its text only if a requested field needs it. */
export type LoadedPost = BriefPost | Post;

export interface Content {
  readonly format: ContentFormat;
  readonly text: string;
}

export interface Author {
  readonly id: string;
}

export interface PostFilters {
  readonly status: PostStatus;
  readonly authorId?: string | undefined;
  /** Each word matches the beginning of a word of the title. */
  readonly search?: string | undefined;
  readonly sort?: ListOrder;
}

export interface VisibleFilters extends PostFilters {
  /** Restricts the list to posts of this author; undefined for callers who may read all. */
  readonly visibleTo?: string | undefined;
}

/** The first `limit` posts of one author after a post id, newest first. */
export interface AuthorPageRequest {
  readonly authorId: string;
  readonly status: PostStatus;
  readonly visibleTo?: string | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** The id of the last post of the previous page; undefined for the first page. After a malformed id the page is empty. */
  readonly after?: string | undefined;
}

/** A status change: from one of several statuses to another. */
export interface StatusTransition {
  readonly from: readonly PostStatus[];
  readonly to: PostStatus;
}

export const statusTransitions = {
  publish: { from: ["DRAFT", "ARCHIVED"], to: "PUBLISHED" },
  archive: { from: ["PUBLISHED"], to: "ARCHIVED" },
} as const satisfies Record<string, StatusTransition>;

/** The statuses in which a post may get `status`: those with a transition to it, and `status` itself, so a repeated change succeeds. */
export function statusesBefore(status: PostStatus): readonly PostStatus[] {
  const transitions: readonly StatusTransition[] = Object.values(statusTransitions);
  const transitionsToStatus = transitions.filter(({ to }) => to === status);
  return [status, ...transitionsToStatus.flatMap(({ from }) => from)];
}

export interface NewPost extends NewValuesOf<typeof postFields> {
  readonly text: string | null;
  readonly format: ContentFormat;
  /** Without a key a repeated request creates another post. */
  readonly idempotencyKey?: string | undefined;
}

/** An undefined field remains unchanged. */
export interface PostChanges extends ChangesOf<typeof postFields> {
  readonly text?: string | null | undefined;
  readonly format?: ContentFormat | undefined;
  /** From REST version 1. True publishes the post; false archives a published post and leaves the status of any other. */
  readonly published?: boolean | undefined;
  /** From REST version 2: the new status. If no transition leads to it from the current one, the whole change is rejected. */
  readonly status?: PostStatus | undefined;
}

/** Such a change needs an existing text. */
export function changesFormatAlone({ format, text }: PostChanges): boolean {
  return format !== undefined && text === undefined;
}

export const defaultFormat: ContentFormat = "PLAIN";

/** 60,000 bytes of JSON fit into a REST request body of 64 KiB. Posts from before this limit have up to 100,000 characters. */
export const postBody = text({ min: 0, max: 60_000, jsonBytesMax: 60_000, what: "A post's text", keepsEnds: true });

export const contentFormat = z.enum(contentFormats, `A format is one of ${contentFormats.join(", ")}.`);
export const postStatus = z.enum(postStatuses, `A status is one of ${postStatuses.join(", ")}.`);
export const postContent = z.strictObject({ format: contentFormat, text: postBody });

const textFields = { content: postContent.nullish(), body: postBody.nullish() };

const textGivenTwice = {
  path: ["body"],
  error: "Send the text as content or as body, not as both.",
  params: { code: "given_twice" },
  // Without `when`, Zod skips this check if there are other problems. All problems are reported together.
  when: () => true,
};

const newPost = z
  .strictObject({ ...postFields.created, ...textFields, idempotencyKey: idempotencyKeyInput })
  .refine(hasAtMostOneText, textGivenTwice)
  .transform(({ content, body, ...fields }): NewPost => ({
    ...fields,
    text: null,
    format: defaultFormat,
    ...toTextChange({ content, body }),
  }));

const postChanges = z
  .strictObject({ ...postFields.changed, ...textFields })
  .refine(hasAtMostOneText, textGivenTwice)
  .transform(({ content, body, ...fields }): PostChanges => ({ ...fields, ...toTextChange({ content, body }) }));

const filters = z.strictObject({
  status: postStatus.nullish().transform((value) => value ?? "PUBLISHED"),
  authorId: optionalFilter(z.string()),
  search: optionalFilter(text({ min: 1, max: 80, what: "A search" })),
  sort: listOrder,
});

/** Reads GraphQL input; rest/read.ts reads REST bodies. @throws AppError BAD_USER_INPUT with every problem. */
export const readNewPost = (input: unknown): NewPost => parseShape(newPost, input);
/**
 * Reads GraphQL input, which never changes the status; rest/read.ts reads REST bodies. @throws AppError BAD_USER_INPUT with every problem.
 */
export const readPostChanges = (input: unknown): PostChanges => parseShape(postChanges, input);
/** Reads the filters of both endpoints. The status is PUBLISHED by default. @throws AppError BAD_USER_INPUT with every problem. */
export const readPostFilters = (input: unknown): PostFilters => parseShape(filters, input);

/** The text with its format; null while the post has no text. @throws Error like `textOf`. */
export function contentOf(post: LoadedPost): Content | null {
  const postText = textOf(post);
  return postText === null ? null : { format: post.format, text: postText };
}

/** @throws Error if the post was loaded without its text: a bug, which must not look like a post without a text. */
export function textOf(post: LoadedPost): string | null {
  if ("text" in post) return post.text;
  throw new Error(`The text of the post ${post.id} was not loaded.`);
}

interface TextInput {
  readonly content?: Content | null | undefined;
  readonly body?: string | null | undefined;
}

/** An absent member remains unchanged. */
interface TextChange {
  readonly text?: string | null;
  readonly format?: ContentFormat;
}

/** The deprecated `body` sets or deletes the text alone; the format remains. `content: null` deletes the text and resets the format. */
function toTextChange({ content, body }: TextInput): TextChange {
  if (content) return content;
  if (typeof body === "string") return { text: body };
  if (content === null) return { text: null, format: defaultFormat };
  if (body === null) return { text: null };
  return {};
}

/** A null text counts as not given. `when` of `textGivenTwice` runs this check also on input that the schema has rejected. */
function hasAtMostOneText(input: unknown): boolean {
  const { content, body } = Object(input) as Record<string, unknown>;
  const hasContent = content !== undefined && content !== null;
  const hasBody = body !== undefined && body !== null;
  return !(hasContent && hasBody);
}
