// Input is a function that an action calls only after the scope check, so UNAUTHENTICATED and FORBIDDEN take precedence over its errors.
import { readConnectionRequest, readFirst, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import { toPage } from "@tributary/kit/lists/keyset";
import { hasBytesFor } from "@tributary/kit/postgres/waiting-caller";
import { readCommentChange, readCommentFilters, readNewComment } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    comment: (_, { id }, { loaders }) => loaders.comment.load(id),
    comments: async (_, { first, after, ...rest }, { actions, cursors }) => {
      const filters = readCommentFilters(rest);
      const list = nameList("comments", { ...filters });
      const request = readConnectionRequest({ first, after }, cursors, list);
      const page = await actions.listComments(filters, request);
      return toConnection(page, cursors, list, (comment) => comment.id);
    },
  },
  Comment: {
    __resolveReference: ({ id }, { loaders }) => loaders.comment.load(id),
    // Each alias is another copy in the response.
    body: ({ body }) => (body === null || hasBytesFor(body) ? body : null),
    author: ({ authorId }) => ({ id: authorId }),
    post: ({ postId }) => ({ id: postId }),
  },
  Post: {
    __resolveReference: ({ id }) => ({ id }),
    // `after` is a comment id here, not a cursor: this field is a plain list, not a connection.
    comments: ({ id }, { first, after }, { loaders }) =>
      loaders.commentsOfPost.load({ parentId: id, limit: readFirst(first), afterId: after || null }),
    commentsConnection: async ({ id }, args, { cursors, loaders }) => {
      // The name of Query.comments with this postId: the same list, so their cursors are interchangeable.
      const list = nameList("comments", { postId: id });
      const request = readConnectionRequest(args, cursors, list);
      // One more than the page: its presence means that there is a next page.
      const onePageAndNext = { parentId: id, limit: request.limit + 1, afterId: request.position?.id ?? null };
      const comments = await loaders.commentsOfPost.load(onePageAndNext);
      return toConnection(toPage(comments, request), cursors, list, (comment) => comment.id);
    },
    commentCount: ({ id }, _, { loaders }) => loaders.commentCount.load(id),
  },
  User: {
    __resolveReference: ({ id }) => ({ id }),
    // `after` is a comment id here too.
    comments: ({ id }, { first, after }, { loaders }) =>
      loaders.commentsOfAuthor.load({ parentId: id, limit: readFirst(first), afterId: after || null }),
  },
  Mutation: {
    addComment: async (_, { input }, { identity, actions, loaders }) => {
      const { result } = await actions.addComment(identity, () => readNewComment(input));
      loaders.clearAll();
      return { comment: result };
    },
    editComment: async (_, { input: { id, ...change } }, { identity, actions, loaders }) => {
      const comment = await actions.editComment(identity, id, () => readCommentChange(change));
      loaders.clearAll();
      return { comment };
    },
    deleteComment: async (_, { input: { id } }, { identity, actions, loaders }) => {
      const comment = await actions.deleteComment(identity, id);
      loaders.clearAll();
      return { comment };
    },
  },
};
