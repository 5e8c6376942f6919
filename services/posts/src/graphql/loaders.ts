import { loadById, loadByKey } from "@tributary/kit/graphql/loaders";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { ListPage } from "@tributary/kit/lists/keyset";
import type { PostActions } from "../actions.ts";
import type { BriefPost, Post, Slice } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/**
 * The DataLoaders of one request; they cache what they load, so each request creates its own. `whole` loads posts with their texts,
 * `brief` without.
 */
export function createLoaders(actions: PostActions, identity: Identity) {
  return {
    whole: {
      post: loadById<Post>((ids) => actions.findPosts(identity, ids), idOf),
      slice: loadByKey<Slice, ListPage<Post>>(actions.listSlices),
    },
    brief: {
      post: loadById<BriefPost>((ids) => actions.findBriefPosts(identity, ids), idOf),
      slice: loadByKey<Slice, ListPage<BriefPost>>(actions.listBriefSlices),
    },
  };
}

function idOf({ id }: BriefPost): string {
  return id;
}
