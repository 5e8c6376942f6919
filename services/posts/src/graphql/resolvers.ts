// Input is a function that an action calls only after the scope check, so UNAUTHENTICATED and FORBIDDEN take precedence over its errors.
import { readConnectionRequest, readFirst, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import { cutPage, type ListPage } from "@tributary/kit/lists/keyset";
import { hasBytesFor, requireWaiting, takeBytes } from "@tributary/kit/postgres/waiting-caller";
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
      const page =
        extentOf(info) === "whole"
          ? cutPage<LoadedPost>(await actions.listPosts(identity, filters, request), request, textBytesOf)
          : await actions.listBriefPosts(identity, filters, { ...request, bytesMax: undefined });
      return toConnection<LoadedPost>(page, cursors, list, (post) => post.id);
    },
  },
  Post: {
    __resolveReference: ({ id }, { loaders }, info) => loaders[extentOf(info)].post.load(id),
    // Each alias of a text is another copy in the response.
    body(post) {
      const text = textOf(post);
      return text === null || hasBytesFor(text) ? text : null;
    },
    content(post) {
      const content = contentOf(post);
      return content === null || hasBytesFor("") ? content : null;
    },
    author: (post) => ({ id: post.authorId }),
  },
  PostContent: {
    text({ text }) {
      takeBytes(text.length);
      return text;
    },
    html({ text }) {
      // It can have five times the length of the text.
      requireWaiting();
      const html = renderHtml(text);
      takeBytes(html.length);
      return html;
    },
  },
  User: {
    // `after` is a post id here, not a cursor: this field is a plain list of published posts, not a connection.
    posts: async ({ id }, { first, after }, { identity, actions, loaders }, info) => {
      const position = after ? ({ direction: "next", id: after } as const) : undefined;
      // Without a status, these filters select published posts.
      const filters = readPostFilters({});
      const request = actions.toAuthorPageRequest(identity, id, filters, { limit: readFirst(first), position });
      const page: ListPage<LoadedPost> = await loaders[extentOf(info)].pageOfAuthor.load(request);
      return page.items;
    },
    postsConnection: async ({ id }, { first, after, status }, { identity, actions, cursors, loaders }, info) => {
      const filters = readPostFilters({ status });
      // Another name than that of Query.posts: REST writes backward cursors for that list, and this field does not support them.
      const list = nameList("User.posts", { id, status: filters.status });
      const connectionRequest = readConnectionRequest({ first, after }, cursors, list);
      const request = actions.toAuthorPageRequest(identity, id, filters, connectionRequest);
      const page: ListPage<LoadedPost> = await loaders[extentOf(info)].pageOfAuthor.load(request);
      return toConnection(cutPage(page, connectionRequest, textBytesOf), cursors, list, (post) => post.id);
    },
  },
  Mutation: {
    createPost: async (_, { input }, { identity, actions, loaders }) => {
      const { result } = await actions.createPost(identity, () => readNewPost(input));
      loaders.clearAll();
      return { post: result };
    },
    updatePost: async (_, { input: { id, ...changes } }, { identity, actions, loaders }) => {
      const { post } = await actions.updatePost(identity, id, () => readPostChanges(changes));
      loaders.clearAll();
      return { post };
    },
    publishPost: async (_, { input: { id } }, { identity, actions, loaders }) => {
      const post = await actions.publishPost(identity, id);
      loaders.clearAll();
      return { post };
    },
    archivePost: async (_, { input: { id } }, { identity, actions, loaders }) => {
      const post = await actions.archivePost(identity, id);
      loaders.clearAll();
      return { post };
    },
  },
};

/** `whole` if the operation selects the texts of this field's posts. The texts are much longer than all other columns together. */
function extentOf(info: GraphQLResolveInfo): "whole" | "brief" {
  return selectsField(info, "Post", ["body", "content"]) ? "whole" : "brief";
}

/** 0 for a post that was loaded without its text. */
function textBytesOf(post: LoadedPost): number {
  return "text" in post ? Buffer.byteLength(post.text ?? "") : 0;
}
