import { readConnectionRequest, readFirst, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import type { ListPage } from "@tributary/kit/lists/keyset";
import { selectsField } from "@tributary/kit/graphql/selected-fields";
import type { GraphQLResolveInfo } from "graphql";
import { renderHtml } from "../html.ts";
import { contentOf, readNewPost, readPostChanges, readPostFilters, type LoadedPost, textOf } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    post: (_, { id }, { loaders }, info) => loaders[extentOf(info)].post.load(id),
    posts: async (_, { first, after, ...rest }, { identity, actions, cursors }, info) => {
      const filters = readPostFilters(rest);
      const list = nameList("posts", { ...filters });
      const request = readConnectionRequest({ first, after }, cursors, list);
      const listPosts = extentOf(info) === "whole" ? actions.listPosts : actions.listBriefPosts;
      const page: ListPage<LoadedPost> = await listPosts(identity, filters, request);
      return toConnection(page, cursors, list, (post) => post.id);
    },
  },
  Post: {
    __resolveReference: ({ id }, { loaders }, info) => loaders[extentOf(info)].post.load(id),
    body: textOf,
    content: contentOf,
    author: (post) => ({ id: post.authorId }),
  },
  PostContent: {
    html: (content) => renderHtml(content.text),
  },
  User: {
    posts: async ({ id }, { first, after }, { identity, actions, loaders }, info) => {
      const position = after ? ({ direction: "next", id: after } as const) : undefined;
      const filters = readPostFilters({});
      const slice = actions.sliceOf(identity, id, filters, { limit: readFirst(first), position });
      return [...(await loaders[extentOf(info)].slice.load(slice)).items];
    },
    postsConnection: async ({ id }, { first, after, status }, { identity, actions, cursors, loaders }, info) => {
      const filters = readPostFilters({ status });
      // A different name than for Query.posts: its cursors may also lead backwards, which this list does not support.
      const list = nameList("User.posts", { id, status: filters.status });
      const request = readConnectionRequest({ first, after }, cursors, list);
      const page: ListPage<LoadedPost> = await loaders[extentOf(info)].slice.load(
        actions.sliceOf(identity, id, filters, request),
      );
      return toConnection(page, cursors, list, (post) => post.id);
    },
  },
  Mutation: {
    createPost: async (_, { input }, { identity, actions }) => ({
      post: await actions.createPost(identity, () => readNewPost(input)),
    }),
    updatePost: async (_, { input: { id, ...changes } }, { identity, actions }) => ({
      post: await actions.updatePost(identity, id, () => readPostChanges(changes)),
    }),
    publishPost: async (_, { input: { id } }, { identity, actions }) => ({
      post: await actions.publishPost(identity, id),
    }),
    archivePost: async (_, { input: { id } }, { identity, actions }) => ({
      post: await actions.archivePost(identity, id),
    }),
  },
};

/** Whether a field selects the texts of its posts. They are a hundred times as long as all other columns. */
function extentOf(info: GraphQLResolveInfo): "whole" | "brief" {
  return selectsField(info, "Post", ["body", "content"]) ? "whole" : "brief";
}
