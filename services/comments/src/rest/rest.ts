import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import { isRowId } from "@tributary/kit/postgres/row-id";
import type { Conditional, Handlers, RestAnswer, RestRequest } from "@tributary/kit/rest/rest-endpoint";
import type { Representation } from "@tributary/kit/rest/caching";
import { readUnmodifiedSince } from "@tributary/kit/rest/conditions";
import { answerList, readFilters } from "@tributary/kit/rest/lists";
import { answerRead } from "@tributary/kit/rest/reading";
import type { Absence, CommentActions } from "../actions.ts";
import {
  type Comment,
  type CommentChange,
  type CommentFilters,
  type CommentState,
  lastModifiedOf,
  type LivingComment,
  type NewComment,
  readCommentFilters,
} from "../model.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: CommentActions;
  readonly cursors: Cursors;
}

/** What one version of the door has of its own. */
export interface RestVersion {
  readonly projection: Projection;
  readonly deletedIs: Absence;
  toJson(comment: LivingComment): unknown;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readNewComment(body: unknown): NewComment;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readCommentChange(body: unknown): CommentChange;
}

/** The comments' REST door in one version: read, act, answer. It shows no comments that were deleted. */
export function createHandlers({ actions, cursors }: RestDeps, version: RestVersion): Handlers<typeof routes> {
  const { projection, deletedIs } = version;

  return {
    async listComments(request) {
      return list(request, readFilters(request, readCommentFilters));
    },
    async listPostComments(request) {
      const postId = idOf(request);
      return list(
        request,
        readFilters(request, (asked) => readCommentFilters({ ...asked, postId })),
      );
    },
    async getComment(request) {
      return answerRead(request, {
        readVersion: async () => show(await actions.getLivingState(idOf(request), deletedIs)),
        load: async () => answer(await actions.getLiving(idOf(request), deletedIs)),
      });
    },
    async addComment({ identity, body }) {
      const comment = await actions.addComment(identity, () => version.readNewComment(body));
      const headers = { Location: `/v${projection.version}/comments/${comment.id}` };
      return { ...answer(comment), status: 201, headers, invalidates: groupsOf(comment) };
    },
    async editComment(request) {
      const precondition = () => readPrecondition(request.header);
      const input = () => version.readCommentChange(request.body);
      const terms = { precondition, deletedIs };
      const comment = await actions.editComment(request.identity, idOf(request), input, terms);
      return { ...answer(comment), invalidates: groupsOf(comment) };
    },
    async deleteComment(request) {
      // Who deletes need not have read it: conditions are honoured where they are sent.
      const precondition = () => readPrecondition(request.header, "optional");
      const unmodifiedSince = readUnmodifiedSince(request.header);
      const terms = { precondition, unmodifiedSince, deletedIs };
      const comment = await actions.deleteComment(request.identity, idOf(request), terms);
      return { status: 204, invalidates: groupsOf(comment) };
    },
  };

  function answer(comment: LivingComment): RestAnswer {
    return { status: 200, body: version.toJson(comment), representation: show(comment) };
  }

  /** Comments have one body for everybody. */
  function show(comment: CommentState): Representation {
    return {
      etag: writeEtag(comment.rowVersion, projection, "public"),
      lastModified: lastModifiedOf(comment),
      audience: "everybody",
      groups: [groupOf(comment)],
    };
  }

  function list(request: RestRequest, filters: CommentFilters): Promise<RestAnswer | Conditional> {
    return answerList<LivingComment>({
      request,
      cursors,
      list: nameList("living-comments", { ...filters }),
      projection,
      view: "public",
      audience: "everybody",
      groups: listGroups(filters),
      idOf: ({ id }) => id,
      toJson: (comment) => version.toJson(comment),
      readVersion: (page) => actions.listLivingVersions(filters, page),
      load: (page) => actions.listLiving(filters, page),
    });
  }
}

/** Whatever shows a comment. */
function groupsOf(comment: Comment): readonly string[] {
  const { postId, authorId } = comment;
  return [groupOf(comment), "comments", ...listGroups({ postId }), ...listGroups({ authorId })];
}

function groupOf({ id }: CommentState): string {
  return `comment-${id}`;
}

/** The lists under a post, those by an author, or that of all. Nothing can be under an id that cannot exist. */
function listGroups({ postId, authorId }: CommentFilters): readonly string[] {
  if (postId !== undefined) return isRowId(postId) ? [`comments-on-${postId}`] : [];
  if (authorId !== undefined) return isRowId(authorId) ? [`comments-by-${authorId}`] : [];
  return ["comments"];
}

function idOf({ params }: RestRequest): string {
  return params["id"] ?? "";
}
