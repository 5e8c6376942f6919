import { AppError, invalidInput } from "@tributary/kit/errors/app-error";
import { anyVersion, isMet, type Precondition, type RowVersion } from "@tributary/kit/http/etag";
import { hasScope, type Identity, isUser, refuse, requireScope, requireUser } from "@tributary/kit/identity/tokens";
import { joinLookups } from "@tributary/kit/lists/joined-lookup";
import type { Page, PageRequest } from "@tributary/kit/lists/keyset";
import {
  type BriefPost,
  type Move,
  moves,
  type NewPost,
  type Post,
  type PostChanges,
  type PostFilters,
  type PostState,
  type PostStatus,
  type Slice,
  statusesBefore,
  type VisibleFilters,
} from "./model.ts";
import type { PostStore } from "./store.ts";

export type PostActions = ReturnType<typeof createPostActions>;

/**
 * What can be done with posts, and who may. Both doors come through here. Input comes as a function: it is read only after the caller
 * was let in, so that strangers hear 401 before anything else.
 */
export function createPostActions(store: PostStore) {
  const lookUpState = joinLookups((ids) => store.findPostStates(ids));

  return {
    ...createListActions(store),
    findPosts,

    /** Those that the caller may see, without their texts. */
    async findBriefPosts(identity: Identity, ids: readonly string[]): Promise<readonly BriefPost[]> {
      return (await store.findBriefPosts(ids)).filter((post) => mayRead(identity, post));
    },

    async findPost(identity: Identity, id: string): Promise<Post | undefined> {
      const [post] = await findPosts(identity, [id]);
      return post;
    },

    /** For whom `findPost` finds the post, and nobody else. */
    async findPostState(identity: Identity, id: string): Promise<PostState | undefined> {
      const state = await lookUpState(id);
      return state !== undefined && mayRead(identity, state) ? state : undefined;
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, BAD_USER_INPUT. */
    async createPost(identity: Identity, input: () => NewPost): Promise<Post> {
      const { userId } = requireScope(identity, "posts:write");
      return store.insertPost(userId, input());
    },

    /**
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, PRECONDITION_REQUIRED, BAD_USER_INPUT, PRECONDITION_FAILED,
     * INVALID_STATE.
     */
    async updatePost(
      identity: Identity,
      id: string,
      input: () => PostChanges,
      precondition: () => Precondition = () => anyVersion,
    ): Promise<Post> {
      const post = await requireWritable(identity, id);
      const versions = precondition();
      // Before the content (RFC 9110, 13.2.1).
      if (!isMet(versions, post.rowVersion)) throw changed();
      const changes = input();
      if (changes.format !== undefined && changes.text === undefined) requireText(post);
      const updated = await store.updatePost(id, changes, versions);
      if (updated !== undefined) return updated;
      throw await explainUnchanged(id, changes, versions);
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
    throw wrongState(step.from);
  }

  /** One statement decides about a change; only when it did not happen is it asked why. A version counts before a state. */
  async function explainUnchanged(id: string, { status }: PostChanges, versions: Precondition): Promise<AppError> {
    const state = await lookUpState(id);
    const isCurrent = state !== undefined && isMet(versions, state.rowVersion);
    const before = status === undefined ? undefined : statusesBefore(status);
    if (isCurrent && before && !before.includes(state.status)) return wrongState(before);
    return changed();
  }

  /** What the caller may neither write nor see does not exist. */
  async function requireWritable(identity: Identity, id: string): Promise<Post> {
    requireScope(identity, "posts:write", "posts:write:all");
    const [post] = await store.findPosts([id]);
    if (post !== undefined && (isUser(identity, post.authorId) || hasScope(identity, "posts:write:all"))) return post;
    if (post === undefined || !mayRead(identity, post)) throw new AppError("NOT_FOUND", "There is no such post.");
    throw refuse(identity, "This is for the post's author, and for the scope posts:write:all.");
  }
}

function changed(): AppError {
  return new AppError("PRECONDITION_FAILED", "The post has changed since you read it. Read it again.");
}

function createListActions(store: PostStore) {
  return {
    /**
     * Whose a list is: undefined for published posts, which are everybody's.
     * @throws AppError UNAUTHENTICATED when nobody asks for others.
     */
    listerOf: (identity: Identity, { status }: PostFilters): string | undefined =>
      status === "PUBLISHED" ? undefined : requireUser(identity).userId,

    /** @throws AppError UNAUTHENTICATED when nobody asks for others than published posts. */
    async listPosts(identity: Identity, filters: PostFilters, request: PageRequest): Promise<Page<Post>> {
      return store.listPosts(narrow(identity, filters), request);
    },

    /** @throws AppError UNAUTHENTICATED when nobody asks for others than published posts. */
    async listBriefPosts(identity: Identity, filters: PostFilters, request: PageRequest): Promise<Page<BriefPost>> {
      return store.listBriefPosts(narrow(identity, filters), request);
    },

    /**
     * The versions of what `listPosts` would find.
     * @throws AppError UNAUTHENTICATED when nobody asks for others than published posts.
     */
    async listPostVersions(identity: Identity, filters: PostFilters, request: PageRequest): Promise<Page<RowVersion>> {
      return store.listPostVersions(narrow(identity, filters), request);
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
    listBriefSlices: (slices: readonly Slice[]) => store.listBriefSlices(slices),
  };
}

function wrongState(statuses: readonly PostStatus[]): AppError {
  const states = statuses.map((status) => status.toLowerCase()).join(" or ");
  return new AppError("INVALID_STATE", `This is for a post that is ${states}.`);
}

/** A format alone is one of a text that is there. */
function requireText({ text }: Post): void {
  if (text !== null) return;
  throw invalidInput([{ pointer: "#/content/text", code: "required", detail: "There is no text yet: give it too." }]);
}

function mayRead(identity: Identity, post: PostState): boolean {
  return post.status === "PUBLISHED" || isUser(identity, post.authorId) || hasScope(identity, "posts:read:all");
}

/** Published posts are for everybody, others for their author and for posts:read:all. */
function narrow(identity: Identity, filters: PostFilters): VisibleFilters {
  if (filters.status === "PUBLISHED") return filters;
  const { userId } = requireUser(identity);
  return hasScope(identity, "posts:read:all") ? filters : { ...filters, visibleTo: userId };
}
