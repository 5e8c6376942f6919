import DataLoader from "dataloader";
import type { CommentActions } from "../actions.ts";
import type { Comment, ListPart, Parent } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

const maxBatchSize = 1_000;

/** A hundred references, lists or counts are one statement each. For one request only: they remember. */
export function createLoaders(actions: CommentActions) {
  const listParts = (parent: Parent) =>
    new DataLoader<ListPart, readonly Comment[], string>((parts) => actions.listParts(parent, parts), {
      maxBatchSize,
      cacheKeyFn: ({ parentId, limit, afterId }) => JSON.stringify([parentId, limit, afterId]),
    });

  return {
    comment: new DataLoader<string, Comment | null>(
      async (ids) => {
        const byId = new Map((await actions.findComments(ids)).map((comment) => [comment.id, comment]));
        return ids.map((id) => byId.get(id) ?? null);
      },
      { maxBatchSize },
    ),
    commentsOfPost: listParts("post"),
    commentsOfAuthor: listParts("author"),
    commentCount: new DataLoader<string, number>((postIds) => actions.countLiving(postIds), { maxBatchSize }),
  };
}
