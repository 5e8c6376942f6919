// For a conditional request `readVersion` runs before `load`: if the client's version is current, the response is 304.
import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { readIdempotencyKey, toReplayHeaders } from "@tributary/kit/idempotency/idempotency-key";
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import type { Identity } from "@tributary/kit/identity/tokens";
import { type Handlers, type RestResponse, idOf } from "@tributary/kit/rest/rest-endpoint";
import type { Audience, RepresentationMetadata } from "@tributary/kit/rest/caching";
import { respondWithList, readFilters } from "@tributary/kit/rest/lists";
import { respondToRead } from "@tributary/kit/rest/conditional-read";
import type { ChangeOptions, UserActions } from "../actions.ts";
import { type NewUser, readUserFilters, type User, type UserChanges, type UserState } from "../model.ts";
import { groupsOfUser, groupsOfUserChange, groupsOfUserList } from "../groups.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: UserActions;
  readonly cursors: Cursors;
}

export interface RestVersion {
  /** Part of every ETag. */
  readonly projection: Projection;
  /** The error code for a deactivated account. */
  readonly deactivatedAs: "NOT_FOUND" | "GONE";
  /** JSON pointer to the email address in a request body. */
  readonly emailPointer: string;
  toJson(user: User, seesPrivate: boolean): unknown;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readNewUser(body: unknown): NewUser;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readUserChanges(body: unknown): UserChanges;
}

export function createHandlers({ actions, cursors }: RestDeps, version: RestVersion): Handlers<typeof routes> {
  const { projection, deactivatedAs, emailPointer } = version;

  return {
    async listUsers(request) {
      const { identity } = request;
      const filters = readFilters(request, readUserFilters);
      return respondWithList<User>({
        request,
        cursors,
        list: nameList("users", { ...filters }),
        projection,
        view: actions.viewOfUsers(identity),
        audience: audienceOf(identity),
        groups: groupsOfUserList,
        idOf: ({ id }) => id,
        toJson: (user) => version.toJson(user, actions.mayReadPrivate(identity, user)),
        readVersion: (page) => actions.listUserVersions(filters, page),
        load: (page) => actions.listUsers(filters, page),
      });
    },
    async getUser(request) {
      const { identity } = request;
      return respondToRead(request, {
        missingGroups: groupsOfUser({ id: idOf(request) }),
        readVersion: async () => toMetadata(identity, await actions.getActiveState(idOf(request), deactivatedAs)),
        load: async () => toResponse(identity, await actions.getActiveUser(idOf(request), deactivatedAs)),
      });
    },
    async createUser({ identity, body, header }) {
      const input = () => ({
        idempotencyKey: readIdempotencyKey(header("idempotency-key")),
        ...version.readNewUser(body),
      });
      const { result: user, replayed } = await actions.createUser(identity, input, { emailPointer });
      const headers = { Location: `/v${projection.version}/users/${user.id}`, ...toReplayHeaders(replayed) };
      // A replay invalidates again: the first response may have been lost.
      return { ...toResponse(identity, user), status: 201, headers, invalidates: groupsOfUserList };
    },
    async updateUser(request) {
      const { identity, header, body } = request;
      const options: ChangeOptions = { precondition: () => readPrecondition(header), deactivatedAs, emailPointer };
      const user = await actions.updateUser(identity, idOf(request), () => version.readUserChanges(body), options);
      return { ...toResponse(identity, user), invalidates: groupsOfUserChange(user) };
    },
  };

  function toResponse(identity: Identity, user: User): RestResponse {
    const body = version.toJson(user, actions.mayReadPrivate(identity, user));
    return { status: 200, body, representation: toMetadata(identity, user) };
  }

  function toMetadata(identity: Identity, user: UserState): RepresentationMetadata {
    const view = actions.mayReadPrivate(identity, user) ? "private" : "public";
    const etag = writeEtag(user.rowVersion, projection, view);
    return { etag, audience: audienceOf(identity), groups: groupsOfUser(user) };
  }
}

/** Anonymous callers share one response. A response to a caller with a token is never shared, even if it shows only public fields. */
function audienceOf(identity: Identity): Audience {
  return identity.kind === "anonymous" ? "everyone" : "caller";
}
