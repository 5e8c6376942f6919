// For a conditional request `readVersion` runs before `load`: if the client's version is current, the response is 304.
import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
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
import { readUnmodifiedSince } from "@tributary/kit/rest/conditions";
import { respondWithList, readFilters } from "@tributary/kit/rest/lists";
import { respondToRead } from "@tributary/kit/rest/conditional-read";
import type { DeletedAs, CommentActions } from "../actions.ts";
import {
  type CommentChange,
  type CommentFilters,
  type CommentState,
  lastModifiedOf,
  type NewComment,
  readCommentFilters,
  type VisibleComment,
} from "../model.ts";
import { groupsOfComment, groupsOfCommentChange, groupsOfCommentList } from "../groups.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: CommentActions;
  readonly cursors: Cursors;
}

export interface RestVersion {
  /** Part of every ETag. */
  readonly projection: Projection;
  readonly deletedAs: DeletedAs;
  toJson(comment: VisibleComment): unknown;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readNewComment(body: unknown): NewComment;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readCommentChange(body: unknown): CommentChange;
}

/** They show no deleted comments. */
export function createHandlers({ actions, cursors }: RestDeps, version: RestVersion): Handlers<typeof routes> {
  const { projection, deletedAs } = version;

  return {
    async listComments(request) {
      return respondWithComments(request, readFilters(request, readCommentFilters));
    },
    async listPostComments(request) {
      const filters = readFilters(request, (query) => readCommentFilters({ ...query, postId: idOf(request) }));
      return respondWithComments(request, filters);
    },
    async getComment(request) {
      return respondToRead(request, {
        missingGroups: groupsOfComment({ id: idOf(request) }),
        readVersion: async () => toMetadata(await actions.getCommentState(idOf(request), deletedAs)),
        load: async () => toResponse(await actions.getComment(idOf(request), deletedAs)),
      });
    },
    async addComment({ identity, body, header }) {
      const input = () => ({
        idempotencyKey: readIdempotencyKey(header("idempotency-key")),
        ...version.readNewComment(body),
      });
      const { result: comment, replayed } = await actions.addComment(identity, input);
      const headers = { Location: `/v${projection.version}/comments/${comment.id}`, ...toReplayHeaders(replayed) };
      // A replay invalidates again: the first response may have been lost.
      return { ...toResponse(comment), status: 201, headers, invalidates: groupsOfCommentChange(comment) };
    },
    async editComment(request) {
      const precondition = () => readPrecondition(request.header);
      const input = () => version.readCommentChange(request.body);
      const comment = await actions.editComment(request.identity, idOf(request), input, { precondition, deletedAs });
      return { ...toResponse(comment), invalidates: groupsOfCommentChange(comment) };
    },
    async deleteComment(request) {
      // A client may delete a comment without reading it first, so the conditions are optional.
      const precondition = () => readPrecondition(request.header, "optional");
      const unmodifiedSince = readUnmodifiedSince(request.header);
      const options = { precondition, unmodifiedSince, deletedAs };
      const comment = await actions.deleteComment(request.identity, idOf(request), options);
      return { status: 204, invalidates: groupsOfCommentChange(comment) };
    },
  };

  function toResponse(comment: VisibleComment): RestResponse {
    return { status: 200, body: version.toJson(comment), representation: toMetadata(comment) };
  }

  function toMetadata(comment: CommentState): RepresentationMetadata {
    return {
      etag: writeEtag(comment.rowVersion, projection, "public"),
      lastModified: lastModifiedOf(comment),
      audience: "everyone",
      groups: groupsOfComment(comment),
    };
  }

  function respondWithComments(
    request: RestRequest,
    filters: CommentFilters,
  ): Promise<RestResponse | ConditionalResponse> {
    return respondWithList<VisibleComment>({
      request,
      cursors,
      // Each cursor's signature includes this name, so another name would invalidate the cursors that clients have.
      list: nameList("living-comments", { ...filters }),
      projection,
      view: "public",
      audience: "everyone",
      groups: groupsOfCommentList(filters),
      idOf: ({ id }) => id,
      toJson: (comment) => version.toJson(comment),
      readVersion: (page) => actions.listVisibleVersions(filters, page),
      load: (page) => actions.listVisible(filters, page),
    });
  }
}
