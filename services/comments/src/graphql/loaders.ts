import { createLoaderById, createLoaderByKey, withClearAll } from "@tributary/kit/graphql/loaders";
import type { CommentActions } from "../actions.ts";
import type { Parent, ParentPageRequest } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** They cache what they load, so each request creates its own. */
export function createLoaders(actions: CommentActions) {
  return withClearAll({
    comment: createLoaderById(actions.findComments, (comment) => comment.id),
    commentsOfPost: createPageLoader("post"),
    commentsOfAuthor: createPageLoader("author"),
    commentCount: createLoaderByKey(actions.countVisible),
  });

  function createPageLoader(parent: Parent) {
    return createLoaderByKey((requests: readonly ParentPageRequest[]) => actions.listPagesOfParents(parent, requests));
  }
}
