import { readConnectionRequest, readFirst, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import { toPage } from "@tributary/kit/lists/keyset";
import { readCommentChange, readCommentFilters, readNewComment } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    comment: (_, { id }, { loaders }) => loaders.comment.load(id),
    comments: async (_, { first, after, ...rest }, { actions, cursors }) => {
      const filters = readCommentFilters(rest);
      const list = nameList("comments", { ...filters });
      const page = await actions.listComments(filters, readConnectionRequest({ first, after }, cursors, list));
      return toConnection(page, cursors, list, (comment) => comment.id);
    },
  },
  Comment: {
    __resolveReference: ({ id }, { loaders }) => loaders.comment.load(id),
    author: ({ authorId }) => ({ id: authorId }),
    post: ({ postId }) => ({ id: postId }),
  },
  Post: {
    __resolveReference: ({ id }) => ({ id }),
    comments: ({ id }, { first, after }, { loaders }) =>
      loaders.commentsOfPost.load({ parentId: id, limit: readFirst(first), afterId: after ?? null }),
    commentsConnection: async ({ id }, args, { cursors, loaders }) => {
      const list = nameList("comments", { postId: id });
      const request = readConnectionRequest(args, cursors, list);
      const part = { parentId: id, limit: request.limit + 1, afterId: request.position?.id ?? null };
      return toConnection(
        toPage(await loaders.commentsOfPost.load(part), request),
        cursors,
        list,
        (comment) => comment.id,
      );
    },
    commentCount: ({ id }, _, { loaders }) => loaders.commentCount.load(id),
  },
  User: {
    __resolveReference: ({ id }) => ({ id }),
    comments: ({ id }, { first, after }, { loaders }) =>
      loaders.commentsOfAuthor.load({ parentId: id, limit: readFirst(first), afterId: after ?? null }),
  },
  Mutation: {
    addComment: async (_, { input }, { identity, actions }) => ({
      comment: await actions.addComment(identity, () => readNewComment(input)),
    }),
    editComment: async (_, { input: { id, ...change } }, { identity, actions }) => ({
      comment: await actions.editComment(identity, id, () => readCommentChange(change)),
    }),
    deleteComment: async (_, { input: { id } }, { identity, actions }) => ({
      comment: await actions.deleteComment(identity, id),
    }),
  },
};
