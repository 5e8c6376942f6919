// For a conditional request `readVersion` runs before `load`: if the client's version is current, the response is 304.
import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { AppError } from "@tributary/kit/errors/app-error";
import { readIdempotencyKey, toReplayHeaders } from "@tributary/kit/idempotency/idempotency-key";
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import {
  type ConditionalResponse,
  type Handlers,
  type RestResponse,
  type RestRequest,
  idOf,
} from "@tributary/kit/rest/rest-endpoint";
import type { RepresentationMetadata } from "@tributary/kit/rest/caching";
import { respondWithList, readFilters } from "@tributary/kit/rest/lists";
import { respondToRead } from "@tributary/kit/rest/conditional-read";
import type { PostActions } from "../actions.ts";
import {
  type NewPost,
  type Post,
  type PostChanges,
  type PostFilters,
  type PostState,
  readPostFilters,
} from "../model.ts";
import { groupsOfPost, groupsOfPostChange, groupsOfPostList } from "../groups.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: PostActions;
  readonly cursors: Cursors;
}

export interface RestVersion {
  /** Part of every ETag. */
  readonly projection: Projection;
  toJson(post: Post): unknown;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readNewPost(body: unknown): NewPost;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readPostChanges(body: unknown): PostChanges;
}

export function createHandlers({ actions, cursors }: RestDeps, version: RestVersion): Handlers<typeof routes> {
  return {
    async listPosts(request) {
      return respondWithPosts(request, readFilters(request, readPostFilters));
    },
    async listUserPosts(request) {
      const authorId = idOf(request);
      const filters = readFilters(request, (query) => readPostFilters({ ...query, authorId }));
      return respondWithPosts(request, filters);
    },
    async getPost(request) {
      const { identity } = request;
      return respondToRead(request, {
        missingGroups: groupsOfPost({ id: idOf(request) }),
        readVersion: async () => toMetadata(requireFound(await actions.findPostState(identity, idOf(request)))),
        load: async () => toResponse(requireFound(await actions.findPost(identity, idOf(request)))),
      });
    },
    async createPost({ identity, body, header }) {
      const input = () => ({
        idempotencyKey: readIdempotencyKey(header("idempotency-key")),
        ...version.readNewPost(body),
      });
      const { result: post, replayed } = await actions.createPost(identity, input);
      const headers = { Location: `/v${version.projection.version}/posts/${post.id}`, ...toReplayHeaders(replayed) };
      // No invalidation: no cached response contains a draft.
      return { ...toResponse(post), status: 201, headers };
    },
    async updatePost(request) {
      const input = () => version.readPostChanges(request.body);
      const precondition = () => readPrecondition(request.header);
      const { before, post } = await actions.updatePost(request.identity, idOf(request), input, precondition);
      return { ...toResponse(post), invalidates: groupsOfPostChange(before, post) };
    },
  };

  function toResponse(post: Post): RestResponse {
    return { status: 200, body: version.toJson(post), representation: toMetadata(post) };
  }

  /** A published post is the same for every caller; a response with an unpublished post is for this caller alone. */
  function toMetadata(post: PostState): RepresentationMetadata {
    const isPublic = post.status === "PUBLISHED";
    return {
      etag: writeEtag(post.rowVersion, version.projection, isPublic ? "public" : "private"),
      audience: isPublic ? "everyone" : "caller",
      groups: groupsOfPost(post),
    };
  }

  async function respondWithPosts(
    request: RestRequest,
    filters: PostFilters,
  ): Promise<RestResponse | ConditionalResponse> {
    const viewerId = actions.viewerIdOf(request.identity, filters);
    const isPublic = viewerId === undefined;
    return respondWithList<Post>({
      request,
      cursors,
      // The cursors of a list that depends on the caller are valid for this caller only.
      list: nameList("posts", { ...filters, lister: viewerId }),
      projection: version.projection,
      view: isPublic ? "public" : "private",
      audience: isPublic ? "everyone" : "caller",
      groups: groupsOfPostList(filters),
      idOf: ({ id }) => id,
      toJson: (post) => version.toJson(post),
      readVersion: (page) => actions.listPostVersions(request.identity, filters, page),
      load: (page) => actions.listPosts(request.identity, filters, page),
    });
  }
}

function requireFound<T>(post: T | undefined): T {
  if (post !== undefined) return post;
  throw new AppError("NOT_FOUND", "There is no such post.");
}
