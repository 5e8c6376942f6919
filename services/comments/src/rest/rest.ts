import { type Cursors, nameList } from "@tributary/kit/cursor";
import { AppError } from "@tributary/kit/errors";
import { readIfMatch, writeEtag } from "@tributary/kit/etag";
import type { RestAnswer, Handlers, RestRequest } from "@tributary/kit/rest";
import { readPageRequest, writeList } from "@tributary/kit/rest-lists";
import type { CommentActions } from "../actions.ts";
import { type CommentFilters, type LivingComment, readCommentFilters } from "../model.ts";
import { readCommentChangeV1, readNewCommentV1 } from "./read.ts";
import type { routes } from "./routes.ts";
import { toCommentV1 } from "./v1.ts";

export interface RestDeps {
  readonly actions: CommentActions;
  readonly cursors: Cursors;
}

/** Version 1 of the comments' REST door: read, act, answer. It does not know comments that were deleted. */
export function createHandlersV1({ actions, cursors }: RestDeps): Handlers<typeof routes> {
  const deletedIs = "NOT_FOUND";

  return {
    async listComments(request) {
      const { limit: _limit, cursor: _cursor, ...rest } = request.query;
      return list(request, readCommentFilters(rest));
    },
    listPostComments: (request) => list(request, { postId: idOf(request) }),
    async getComment(request) {
      return answer(requireLiving(await actions.findLiving(idOf(request))));
    },
    async addComment({ identity, body }) {
      const comment = await actions.addComment(identity, () => readNewCommentV1(body));
      return answer(comment, 201, { Location: `/v1/comments/${comment.id}` });
    },
    async editComment(request) {
      const precondition = () => readIfMatch(request.header("if-match"));
      const input = () => readCommentChangeV1(request.body);
      return answer(await actions.editComment(request.identity, idOf(request), input, { precondition, deletedIs }));
    },
    async deleteComment(request) {
      // Who deletes need not have read it: If-Match is honoured where it is sent.
      const precondition = () => readIfMatch(request.header("if-match") ?? "*");
      await actions.deleteComment(request.identity, idOf(request), { precondition, deletedIs });
      return { status: 204 };
    },
  };

  async function list(request: RestRequest, filters: CommentFilters): Promise<RestAnswer> {
    const name = nameList("living-comments", { ...filters });
    const page = await actions.listLiving(filters, readPageRequest(request.query, cursors, name));
    return writeList({ request, cursors, list: name, page, idOf: ({ id }) => id, toJson: toCommentV1 });
  }
}

function answer(comment: LivingComment, status = 200, headers: Record<string, string> = {}): RestAnswer {
  return {
    status,
    headers: { ETag: writeEtag(comment.rowVersion, "v1", "public"), ...headers },
    body: toCommentV1(comment),
  };
}

function idOf({ params }: RestRequest): string {
  return params["id"] ?? "";
}

function requireLiving(comment: LivingComment | undefined): LivingComment {
  if (comment !== undefined) return comment;
  throw new AppError("NOT_FOUND", "There is no such comment.");
}
