// Input is a function that an action calls only after the scope check, so UNAUTHENTICATED and FORBIDDEN take precedence over its errors.
import { readConnectionRequest, toConnection } from "@tributary/kit/lists/connection";
import { nameList } from "@tributary/kit/lists/cursor";
import { readNewUser, readUserChanges, readUserFilters } from "../model.ts";
import type { Resolvers } from "./schema-types.ts";

export const resolvers: Resolvers = {
  Query: {
    user: (_, { id }, { loaders }) => loaders.user.load(id),
    users: async (_, { first, after, ...rest }, { actions, cursors }) => {
      const filters = readUserFilters(rest);
      const list = nameList("users", { ...filters });
      const request = readConnectionRequest({ first, after }, cursors, list);
      const page = await actions.listUsers(filters, request);
      return toConnection(page, cursors, list, (user) => user.id);
    },
    me: (_, _args, { identity, loaders }) => (identity.kind === "user" ? loaders.user.load(identity.userId) : null),
  },
  User: {
    __resolveReference: ({ id }, { loaders }) => loaders.user.load(id),
    email: (user, _, { identity, actions }) => actions.readPrivate(identity, user).email,
    prefs: (user, _, { identity, actions }) => {
      const { prefs } = actions.readPrivate(identity, user);
      // Only those that the user has set are stored.
      return prefs && { locale: null, timeZone: null, theme: null, newsletter: null, ...prefs };
    },
  },
  // Mutations do not clear the loaders: no field of their payloads reads from a loader.
  Mutation: {
    createUser: async (_, { input }, { identity, actions }) => {
      const { result } = await actions.createUser(identity, () => readNewUser(input));
      return { user: result };
    },
    updateUser: async (_, { input: { id, ...changes } }, { identity, actions }) => ({
      user: await actions.updateUser(identity, id, () => readUserChanges(changes)),
    }),
    deactivateUser: async (_, { input: { id } }, { identity, actions }) => ({
      user: await actions.deactivateUser(identity, id),
    }),
  },
};
