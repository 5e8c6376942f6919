import { AppError, invalidInput } from "@tributary/kit/errors/app-error";
import type { IdempotentResult } from "@tributary/kit/idempotency/idempotency";
import {
  anyVersion,
  allowsVersion,
  type Precondition,
  type RowVersion,
  toVersionError,
} from "@tributary/kit/http/etag";
import {
  hasScope,
  type Identity,
  isUser,
  denyAccess,
  requireAnyScope,
  requireUser,
} from "@tributary/kit/identity/tokens";
import { batchLookups } from "@tributary/kit/lists/batched-lookup";
import type { ListPage, PageRequest } from "@tributary/kit/lists/keyset";
import {
  type BriefPost,
  changesFormatAlone,
  type StatusTransition,
  statusTransitions,
  type NewPost,
  type Post,
  type PostChanges,
  type PostFilters,
  type PostState,
  type PostStatus,
  type AuthorPageRequest,
  statusesBefore,
  type VisibleFilters,
} from "./model.ts";
import type { PostStore } from "./store.ts";

/** `before` was read in an earlier statement, so it may be older than the version that the update replaced. */
export interface UpdatedPost {
  readonly before: PostState;
  readonly post: Post;
}

export type PostActions = ReturnType<typeof createPostActions>;

/** `find…` omits posts that the caller may not read. `input` is called after authorization, so that 401, 403 and 404 precede its errors. */
export function createPostActions(store: PostStore) {
  // Concurrent requests share one statement, so permissions are checked afterwards. Nothing is cached.
  const findStateBatched = batchLookups((ids) => store.findPostStates(ids));

  return {
    ...createListActions(store),
    findPosts,

    async findBriefPosts(identity: Identity, ids: readonly string[]): Promise<readonly BriefPost[]> {
      return (await store.findBriefPosts(ids)).filter((post) => mayRead(identity, post));
    },

    async findPost(identity: Identity, id: string): Promise<Post | undefined> {
      const [post] = await findPosts(identity, [id]);
      return post;
    },

    /** Undefined in the same cases as `findPost`. */
    async findPostState(identity: Identity, id: string): Promise<PostState | undefined> {
      const state = await findStateBatched(id);
      return state !== undefined && mayRead(identity, state) ? state : undefined;
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, the errors of `input`, then those of the idempotency key (`writeOnce`). */
    async createPost(identity: Identity, input: () => NewPost): Promise<IdempotentResult<Post>> {
      const { userId } = requireAnyScope(identity, "posts:write");
      return store.insertPost(userId, input());
    },

    /**
     * @param precondition reads the conditions of the request; called after authorization and before `input`.
     * @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, the errors of `precondition`, PRECONDITION_FAILED, the errors of `input`,
     * BAD_USER_INPUT, INVALID_STATE.
     */
    async updatePost(
      identity: Identity,
      id: string,
      input: () => PostChanges,
      precondition: () => Precondition = () => anyVersion,
    ): Promise<UpdatedPost> {
      const before = await requireWritable(identity, id);
      const versions = precondition();
      // Conditions are evaluated before the content (RFC 9110, 13.2.1).
      if (!allowsVersion(versions, before.rowVersion)) throw toVersionError("post");
      const changes = input();
      if (changesFormatAlone(changes)) requireText(before);
      const post = await store.updatePost(id, changes, versions);
      if (post !== undefined) return { before, post };
      throw await explainUnchanged(id, changes, versions);
    },

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    publishPost: (identity: Identity, id: string) => changeStatus(identity, id, statusTransitions.publish),

    /** @throws AppError UNAUTHENTICATED, FORBIDDEN, NOT_FOUND, INVALID_STATE. */
    archivePost: (identity: Identity, id: string) => changeStatus(identity, id, statusTransitions.archive),
  };

  async function findPosts(identity: Identity, ids: readonly string[]): Promise<readonly Post[]> {
    return (await store.findPosts(ids)).filter((post) => mayRead(identity, post));
  }

  async function changeStatus(identity: Identity, id: string, transition: StatusTransition): Promise<Post> {
    await requireWritable(identity, id);
    const post = await store.changeStatus(id, transition);
    if (post !== undefined) return post;
    throw toStatusError(transition.from);
  }

  /** If the row would match now, another request has changed it in between: that is reported as a wrong version. */
  async function explainUnchanged(id: string, { status }: PostChanges, versions: Precondition): Promise<AppError> {
    const state = await findStateBatched(id);
    if (state === undefined || !allowsVersion(versions, state.rowVersion)) return toVersionError("post");
    if (status === undefined) return toVersionError("post");
    const allowedStatuses = statusesBefore(status);
    return allowedStatuses.includes(state.status) ? toVersionError("post") : toStatusError(allowedStatuses);
  }

  /** @throws AppError UNAUTHENTICATED, FORBIDDEN for a post that the caller may read but not write, NOT_FOUND for any other. */
  async function requireWritable(identity: Identity, id: string): Promise<Post> {
    requireAnyScope(identity, "posts:write", "posts:write:all");
    const [post] = await store.findPosts([id]);
    if (post === undefined) throw toMissingError();
    const mayWrite = isUser(identity, post.authorId) || hasScope(identity, "posts:write:all");
    if (mayWrite) return post;
    if (!mayRead(identity, post)) throw toMissingError();
    throw denyAccess(identity, "Only the post's author, or a caller with the scope posts:write:all, may do this.");
  }
}

function toMissingError(): AppError {
  return new AppError("NOT_FOUND", "There is no such post.");
}

function createListActions(store: PostStore) {
  return {
    /** Undefined for published posts, which are the same for every caller. @throws AppError UNAUTHENTICATED as `listPosts`. */
    viewerIdOf: (identity: Identity, { status }: PostFilters): string | undefined =>
      status === "PUBLISHED" ? undefined : requireUser(identity).userId,

    /** @throws AppError UNAUTHENTICATED if an anonymous client requests other posts than published ones. */
    async listPosts(identity: Identity, filters: PostFilters, request: PageRequest): Promise<ListPage<Post>> {
      return store.listPosts(restrictToVisible(identity, filters), request);
    },

    /** @throws AppError UNAUTHENTICATED if an anonymous client requests other posts than published ones. */
    async listBriefPosts(identity: Identity, filters: PostFilters, request: PageRequest): Promise<ListPage<BriefPost>> {
      return store.listBriefPosts(restrictToVisible(identity, filters), request);
    },

    /** @throws AppError UNAUTHENTICATED if an anonymous client requests other posts than published ones. */
    async listPostVersions(
      identity: Identity,
      filters: PostFilters,
      request: PageRequest,
    ): Promise<ListPage<RowVersion>> {
      return store.listPostVersions(restrictToVisible(identity, filters), request);
    },

    /** Only posts that the caller may read. `position` is always forward. @throws AppError UNAUTHENTICATED as `listPosts`. */
    toAuthorPageRequest(
      identity: Identity,
      authorId: string,
      filters: PostFilters,
      { limit, position }: PageRequest,
    ): AuthorPageRequest {
      const { status, visibleTo } = restrictToVisible(identity, filters);
      return { authorId, status, visibleTo, limit, after: position?.id };
    },

    /** Does not check permissions: the requests from `toAuthorPageRequest` contain them. */
    listPagesOfAuthors: (requests: readonly AuthorPageRequest[]) => store.listPagesOfAuthors(requests),

    /** Like `listPagesOfAuthors`, without texts. */
    listBriefPagesOfAuthors: (requests: readonly AuthorPageRequest[]) => store.listBriefPagesOfAuthors(requests),
  };
}

function toStatusError(statuses: readonly PostStatus[]): AppError {
  const statusNames = statuses.map((status) => status.toLowerCase()).join(" or ");
  return new AppError("INVALID_STATE", `The post must be ${statusNames} for this change.`);
}

function requireText({ text }: Post): void {
  if (text !== null) return;
  throw invalidInput([
    { pointer: "#/content/text", code: "required", detail: "The post has no text yet. Send the text too." },
  ]);
}

function mayRead(identity: Identity, post: PostState): boolean {
  return post.status === "PUBLISHED" || isUser(identity, post.authorId) || hasScope(identity, "posts:read:all");
}

/** Every caller may list published posts; other posts only their author, or a caller with posts:read:all. */
function restrictToVisible(identity: Identity, filters: PostFilters): VisibleFilters {
  if (filters.status === "PUBLISHED") return filters;
  const { userId } = requireUser(identity);
  if (hasScope(identity, "posts:read:all")) return filters;
  return { ...filters, visibleTo: userId };
}
