import { type Cursors, nameList } from "@tributary/kit/cursor";
import { AppError } from "@tributary/kit/errors";
import { readIfMatch, writeEtag } from "@tributary/kit/etag";
import type { Identity } from "@tributary/kit/identity";
import type { Handlers } from "@tributary/kit/rest";
import { readPageRequest, writeList } from "@tributary/kit/rest-lists";
import type { UserActions } from "../actions.ts";
import { readUserFilters, type User } from "../model.ts";
import { readNewUserV1, readUserChangesV1 } from "./read.ts";
import type { routes } from "./routes.ts";
import { toUserV1 } from "./v1.ts";

export interface RestDeps {
  readonly actions: UserActions;
  readonly cursors: Cursors;
}

/** Version 1 of the users' REST door: read, act, answer. */
export function createHandlersV1({ actions, cursors }: RestDeps): Handlers<typeof routes> {
  const answer = (identity: Identity, user: User, status = 200, headers: Record<string, string> = {}) => {
    const seesPrivate = actions.mayReadPrivate(identity, user);
    const etag = writeEtag(user.rowVersion, "v1", seesPrivate ? "private" : "public");
    return { status, headers: { ETag: etag, ...headers }, body: toUserV1(user, seesPrivate) };
  };

  return {
    async listUsers(request) {
      const { limit: _limit, cursor: _cursor, ...rest } = request.query;
      const filters = readUserFilters(rest);
      const list = nameList("users", { ...filters });
      const page = await actions.listUsers(filters, readPageRequest(request.query, cursors, list));
      const toJson = (user: User) => toUserV1(user, actions.mayReadPrivate(request.identity, user));
      return writeList({ request, cursors, list, page, idOf: ({ id }) => id, toJson });
    },
    async getUser({ identity, params }) {
      return answer(identity, requireActive(await actions.findUser(params["id"] ?? "")));
    },
    async createUser({ identity, body }) {
      const user = await actions.createUser(identity, () => readNewUserV1(body));
      return answer(identity, user, 201, { Location: `/v1/users/${user.id}` });
    },
    async updateUser({ identity, params, header, body }) {
      const id = params["id"] ?? "";
      const precondition = () => readIfMatch(header("if-match"));
      const terms = { precondition, formerIs: "NOT_FOUND" } as const;
      return answer(identity, await actions.updateUser(identity, id, () => readUserChangesV1(body), terms));
    },
  };
}

/** Version 1 does not know accounts that were given up. */
function requireActive(user: User | undefined): User {
  if (user !== undefined && user.deactivatedAt === null) return user;
  throw new AppError("NOT_FOUND", "There is no such user.");
}
