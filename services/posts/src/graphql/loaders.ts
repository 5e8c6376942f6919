import { createLoaderById, createLoaderByKey } from "@tributary/kit/graphql/loaders";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { ListPage } from "@tributary/kit/lists/keyset";
import type { PostActions } from "../actions.ts";
import type { BriefPost, Post, AuthorPageRequest } from "../model.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/**
 * The DataLoaders of one request and its caller; they cache what they load, so each request creates its own. `whole` loads posts with their
 * texts, `brief` without: resolvers.ts chooses by the fields of the operation. The keys of pages come from `actions.toAuthorPageRequest`,
 * which limits them to the posts that the caller may read.
 */
export function createLoaders(actions: PostActions, identity: Identity) {
  const whole = {
    post: createLoaderById<Post>((ids) => actions.findPosts(identity, ids), idOf),
    pageOfAuthor: createLoaderByKey<AuthorPageRequest, ListPage<Post>>(actions.listPagesOfAuthors),
  };
  const brief = {
    post: createLoaderById<BriefPost>((ids) => actions.findBriefPosts(identity, ids), idOf),
    pageOfAuthor: createLoaderByKey<AuthorPageRequest, ListPage<BriefPost>>(actions.listBriefPagesOfAuthors),
  };
  const all = [whole.post, whole.pageOfAuthor, brief.post, brief.pageOfAuthor];

  return {
    whole,
    brief,

    /** After each mutation: a later one of the same operation must not read values from before. */
    clearAll(): void {
      for (const loader of all) loader.clearAll();
    },
  };
}

function idOf({ id }: BriefPost): string {
  return id;
}
