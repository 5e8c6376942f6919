import type { Identity } from "@tributary/kit/identity/tokens";
import type { Page } from "@tributary/kit/lists/keyset";
import DataLoader from "dataloader";
import type { PostActions } from "../actions.ts";
import type { BriefPost, Post, Slice } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

const maxBatchSize = 1_000;

/**
 * A hundred references to posts, or a hundred users' lists of them, are one statement; those that are asked what they say are one of their
 * own. For one request only: they remember.
 */
export function createLoaders(actions: PostActions, identity: Identity) {
  return {
    whole: {
      post: loadById<Post>((ids) => actions.findPosts(identity, ids)),
      slice: loadSlices<Post>((slices) => actions.listSlices(slices)),
    },
    brief: {
      post: loadById<BriefPost>((ids) => actions.findBriefPosts(identity, ids)),
      slice: loadSlices<BriefPost>((slices) => actions.listBriefSlices(slices)),
    },
  };
}

function loadById<P extends BriefPost>(find: (ids: readonly string[]) => Promise<readonly P[]>) {
  return new DataLoader<string, P | null>(
    async (ids) => {
      const byId = new Map((await find(ids)).map((post) => [post.id, post]));
      return ids.map((id) => byId.get(id) ?? null);
    },
    { maxBatchSize },
  );
}

function loadSlices<P extends BriefPost>(list: (slices: readonly Slice[]) => Promise<readonly Page<P>[]>) {
  return new DataLoader<Slice, Page<P>, string>(list, { maxBatchSize, cacheKeyFn: (slice) => JSON.stringify(slice) });
}
