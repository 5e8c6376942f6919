import { createLoaderById, createLoaderByKey } from "@tributary/kit/graphql/loaders";
import type { CommentActions } from "../actions.ts";
import type { Parent, ParentPageRequest } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** They cache what they load, so each request creates its own. */
export function createLoaders(actions: CommentActions) {
  const loaders = {
    comment: createLoaderById(actions.findComments, (comment) => comment.id),
    commentsOfPost: createPageLoader("post"),
    commentsOfAuthor: createPageLoader("author"),
    commentCount: createLoaderByKey(actions.countVisible),
  };

  function createPageLoader(parent: Parent) {
    return createLoaderByKey((requests: readonly ParentPageRequest[]) => actions.listPagesOfParents(parent, requests));
  }

  return {
    ...loaders,

    /** After each mutation: a later one of the same operation must not read values from before. */
    clearAll(): void {
      for (const loader of Object.values(loaders)) loader.clearAll();
    },
  };
}
