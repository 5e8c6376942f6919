import { loadById, loadByKey } from "@tributary/kit/graphql/loaders";
import type { CommentActions } from "../actions.ts";
import type { ListPart } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** The DataLoaders of one request; they cache what they load, so each request creates its own. */
export function createLoaders(actions: CommentActions) {
  return {
    comment: loadById(actions.findComments, (comment) => comment.id),
    commentsOfPost: loadByKey((parts: readonly ListPart[]) => actions.listParts("post", parts)),
    commentsOfAuthor: loadByKey((parts: readonly ListPart[]) => actions.listParts("author", parts)),
    commentCount: loadByKey(actions.countVisible),
  };
}
