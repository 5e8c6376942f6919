import { AppError } from "@tributary/kit/errors";
import type { Precondition } from "@tributary/kit/etag";
import { hasScope, type Identity, isUser, refuse, requireScope, requireUser } from "@tributary/kit/identity";
import type { Page, PageRequest } from "@tributary/kit/keyset";
import {
  type Move,
  moves,
  type NewPost,
  type Post,
  type PostChanges,
  type PostFilters,
  type Slice,
  type VisibleFilters,
} from "./model.ts";
import type { PostStore } from "./store.ts";

export type PostActions = ReturnType<typeof createPostActions>;

/**
 * What can be done with posts, and who may. Both doors come through here. Input comes as a function: it is read only after the caller
 * was let in, so that strangers hear 401 before anything else.
 */
export function createPostActions(store: PostStore) {
  return {
    findPosts,

    async findPost(identity: Identity, id: string): Promise<Post | undefined> {
      const [post] = await findPosts(identity, [id]);
      return post;
    },

    /** @throws AppError UNAUTHENTICATED when nobody asks for others than published posts. */
    async listPosts(identity: Identity, filters: PostFilters, request: PageRequest): Promise<Page<Post>> {
      return store.listPosts(narrow(identity, filters), request);
    },

    /**
     * The part of an author's list that the caller may see, for `listSlices`.
     * @throws AppError UNAUTHENTICATED when nobody asks for others than published posts.
     */
    sliceOf(identity: Identity, authorId: string, filters: PostFilters, { limit, position }: PageRequest): Slice {
      const { status, visibleTo } = narrow(identity, filters);
      return { authorId, status, visibleTo, limit, after: position?.id };
    },

    listSlices: (slices: readonly Slice[]) => store.listSlices(slices),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT. */
    async createPost(identity: Identity, input: () => NewPost): Promise<Post> {
      const { userId } = requireScope(identity, "posts:write");
      return store.insertPost(userId, input());
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, PRECONDITION_REQUIRED, BAD_USER_INPUT, PRECONDITION_FAILED. */
    async updatePost(
      identity: Identity,
      id: string,
      input: () => PostChanges,
      precondition: () => Precondition = () => "any",
    ): Promise<Post> {
      await requireWritable(identity, id);
      const versions = precondition();
      const updated = await store.updatePost(id, input(), versions);
      if (updated !== undefined) return updated;
      throw new AppError("PRECONDITION_FAILED", "The post has changed since you read it. Read it again.");
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    publishPost: (identity: Identity, id: string) => move(identity, id, moves.publish),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    archivePost: (identity: Identity, id: string) => move(identity, id, moves.archive),
  };

  /** Those that the caller may see. */
  async function findPosts(identity: Identity, ids: readonly string[]): Promise<readonly Post[]> {
    return (await store.findPosts(ids)).filter((post) => mayRead(identity, post));
  }

  async function move(identity: Identity, id: string, step: Move): Promise<Post> {
    await requireWritable(identity, id);
    const moved = await store.movePost(id, step);
    if (moved !== undefined) return moved;
    const states = step.from.map((status) => status.toLowerCase()).join(" or ");
    throw new AppError("INVALID_STATE", `This is for a post that is ${states}.`);
  }

  /** What the caller may neither write nor see does not exist. */
  async function requireWritable(identity: Identity, id: string): Promise<void> {
    requireScope(identity, "posts:write", "posts:write:all");
    const [post] = await store.findPosts([id]);
    if (post !== undefined && (isUser(identity, post.authorId) || hasScope(identity, "posts:write:all"))) return;
    if (post === undefined || !mayRead(identity, post)) throw new AppError("NOT_FOUND", "There is no such post.");
    throw refuse(identity, "This is for the post's author, and for the scope posts:write:all.");
  }
}

function mayRead(identity: Identity, post: Post): boolean {
  return post.status === "PUBLISHED" || isUser(identity, post.authorId) || hasScope(identity, "posts:read:all");
}

/** Published posts are for everybody, others for their author and for posts:read:all. */
function narrow(identity: Identity, filters: PostFilters): VisibleFilters {
  if (filters.status === "PUBLISHED") return filters;
  const { userId } = requireUser(identity);
  return hasScope(identity, "posts:read:all") ? filters : { ...filters, visibleTo: userId };
}
