import { listOrder, type ListOrder } from "@tributary/kit/lists/list-order";
import { readShape, text } from "@tributary/kit/errors/validate";
import { z } from "zod";

const postStatuses = ["DRAFT", "PUBLISHED", "ARCHIVED"] as const;
export type PostStatus = (typeof postStatuses)[number];

const contentFormats = ["PLAIN", "MARKDOWN"] as const;
export type ContentFormat = (typeof contentFormats)[number];

/** What decides who may see a post, and which version of it that is. */
export interface PostState {
  readonly id: string;
  readonly authorId: string;
  readonly status: PostStatus;
  readonly rowVersion: string;
}

/** A post without what it says. */
export interface BriefPost extends PostState {
  readonly title: string;
  readonly format: ContentFormat;
  readonly createdAt: Date;
  /** When title, text or format last changed. */
  readonly updatedAt: Date;
  /** When it was published first; null for a draft and for nothing else. */
  readonly publishedAt: Date | null;
}

export interface Post extends BriefPost {
  /** Null while nothing is written. */
  readonly text: string | null;
}

/** A post as it was read: with what it says where that was asked for. */
export type ReadPost = BriefPost | Post;

export interface Content {
  readonly format: ContentFormat;
  readonly text: string;
}

/** A user, as far as this service knows one. */
export interface Author {
  readonly id: string;
}

export interface PostFilters {
  readonly status: PostStatus;
  readonly authorId?: string | undefined;
  /** Words that begin words of the title. */
  readonly search?: string | undefined;
  readonly sort?: ListOrder;
}

export interface VisibleFilters extends PostFilters {
  /** Only this author's posts are to be seen. */
  readonly visibleTo?: string | undefined;
}

/** A page of one author's list; going forward only. */
export interface Slice {
  readonly authorId: string;
  readonly status: PostStatus;
  readonly visibleTo?: string | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** The id of the post after which to go on. */
  readonly after?: string | undefined;
}

/** A step in a post's life: whence and whither. */
export interface Move {
  readonly from: readonly PostStatus[];
  readonly to: PostStatus;
}

export const moves = {
  publish: { from: ["DRAFT", "ARCHIVED"], to: "PUBLISHED" },
  archive: { from: ["PUBLISHED"], to: "ARCHIVED" },
} as const satisfies Record<string, Move>;

/** The statuses from which one is reached by no step or one: a draft from a draft alone. */
export function statusesBefore(status: PostStatus): readonly PostStatus[] {
  const steps: readonly Move[] = Object.values(moves);
  return [status, ...steps.filter(({ to }) => to === status).flatMap(({ from }) => from)];
}

export interface NewPost {
  readonly title: string;
  readonly text: string | null;
  readonly format: ContentFormat;
}

/** What is undefined stays. */
export interface PostChanges {
  readonly title?: string | undefined;
  readonly text?: string | null | undefined;
  readonly format?: ContentFormat | undefined;
  /** True publishes what is not published, false archives what is. What is so already stays as it is. */
  readonly published?: boolean | undefined;
  /** Moves the post, where that is one step or none; otherwise nothing of the change is made. */
  readonly status?: PostStatus | undefined;
}

/** What nobody declares to be more is plain text. */
export const defaultFormat: ContentFormat = "PLAIN";

export const title = text({ min: 1, max: 200, what: "A title" });
/** A REST body of 64 KiB holds it. Posts that were written before this limit have up to 100,000 characters. */
export const body = text({ min: 0, max: 60_000, jsonBytesMax: 60_000, what: "A post's text", keepsEnds: true });

export const contentFormat = z.enum(contentFormats, `A format is one of ${contentFormats.join(", ")}.`);
export const postStatus = z.enum(postStatuses, `A status is one of ${postStatuses.join(", ")}.`);
export const content = z.strictObject({ format: contentFormat, text: body });

const writing = { content: content.nullish(), body: body.nullish() };

const bothWays = {
  path: ["body"],
  error: "Give the text as content or as body, not as both.",
  params: { code: "given_twice" },
  // Said together with whatever else is wrong.
  when: () => true,
};

const newPost = z
  .strictObject({ title, ...writing })
  .refine(isWrittenOnce, bothWays)
  .transform(({ title, ...written }): NewPost => ({ title, text: null, format: defaultFormat, ...toText(written) }));

const postChanges = z
  .strictObject({ title: title.optional(), ...writing })
  .refine(isWrittenOnce, bothWays)
  .transform(({ title, ...written }): PostChanges => ({ title, ...toText(written) }));

const filters = z.strictObject({
  status: postStatus.nullish().transform((value) => value ?? "PUBLISHED"),
  authorId: z
    .string()
    .nullish()
    .transform((value) => value ?? undefined),
  search: text({ min: 1, max: 80, what: "A search" })
    .nullish()
    .transform((value) => value ?? undefined),
  sort: listOrder,
});

/** @throws AppError BAD_USER_INPUT with every problem. */
export const readNewPost = (input: unknown): NewPost => readShape(newPost, input);
/** @throws AppError BAD_USER_INPUT with every problem. */
export const readPostChanges = (input: unknown): PostChanges => readShape(postChanges, input);
/** @throws AppError BAD_USER_INPUT with every problem. */
export const readPostFilters = (input: unknown): PostFilters => readShape(filters, input);

export function contentOf(post: ReadPost): Content | null {
  const text = textOf(post);
  return text === null ? null : { format: post.format, text };
}

/** @throws Error when it was not read: a bug, for a post that says something must never look like one that says nothing. */
export function textOf(post: ReadPost): string | null {
  if ("text" in post) return post.text;
  throw new Error(`The text of the post ${post.id} was not read.`);
}

interface Written {
  readonly content?: Content | null | undefined;
  readonly body?: string | null | undefined;
}

/** The retired `body` says the text alone; whatever format there is stays. */
function toText({ content, body }: Written): Partial<Content> | { readonly text?: null } {
  if (content) return content;
  if (typeof body === "string") return { text: body };
  return content === null || body === null ? { text: null } : {};
}

/** Runs on what is not known to be well-formed yet. */
function isWrittenOnce(input: unknown): boolean {
  const { content, body } = Object(input) as Record<string, unknown>;
  return (content ?? undefined) === undefined || (body ?? undefined) === undefined;
}
