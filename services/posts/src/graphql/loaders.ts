import type { Identity } from "@tributary/kit/identity";
import type { Page } from "@tributary/kit/keyset";
import DataLoader from "dataloader";
import type { PostActions } from "../actions.ts";
import type { Post, Slice } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** A hundred references to posts, or a hundred users' lists of them, are one statement. For one request only: they remember. */
export function createLoaders(actions: PostActions, identity: Identity) {
  return {
    post: new DataLoader<string, Post | null>(
      async (ids) => {
        const byId = new Map((await actions.findPosts(identity, ids)).map((post) => [post.id, post]));
        return ids.map((id) => byId.get(id) ?? null);
      },
      { maxBatchSize: 1_000 },
    ),
    slice: new DataLoader<Slice, Page<Post>, string>((slices) => actions.listSlices(slices), {
      maxBatchSize: 1_000,
      cacheKeyFn: (slice) => JSON.stringify(slice),
    }),
  };
}
