import DataLoader from "dataloader";
import type { User } from "../model.ts";
import type { UserActions } from "../actions.ts";

export type Loaders = ReturnType<typeof createLoaders>;

/** A hundred references to users are one statement. For one request only: they remember. */
export function createLoaders(actions: UserActions) {
  return {
    user: new DataLoader<string, User | null>(
      async (ids) => {
        const byId = new Map((await actions.findUsers(ids)).map((user) => [user.id, user]));
        return ids.map((id) => byId.get(id) ?? null);
      },
      { maxBatchSize: 1_000 },
    ),
  };
}
