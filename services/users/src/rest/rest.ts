import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import type { Identity } from "@tributary/kit/identity/tokens";
import type { Handlers, RestAnswer, RestRequest } from "@tributary/kit/rest/rest-endpoint";
import type { Audience, Representation } from "@tributary/kit/rest/caching";
import { answerList, readFilters } from "@tributary/kit/rest/lists";
import { answerRead } from "@tributary/kit/rest/reading";
import type { ChangeTerms, UserActions } from "../actions.ts";
import { type NewUser, readUserFilters, type User, type UserChanges, type UserState } from "../model.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: UserActions;
  readonly cursors: Cursors;
}

/** What one version of the door has of its own. */
export interface RestVersion {
  readonly projection: Projection;
  /** What it answers for an account that was given up. */
  readonly formerIs: "NOT_FOUND" | "GONE";
  /** Where its bodies have the address. */
  readonly emailPointer: string;
  toJson(user: User, seesPrivate: boolean): unknown;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readNewUser(body: unknown): NewUser;
  /** @throws AppError BAD_USER_INPUT with every problem. */
  readUserChanges(body: unknown): UserChanges;
}

/** The users' REST door in one version: read, act, answer. */
export function createHandlers({ actions, cursors }: RestDeps, version: RestVersion): Handlers<typeof routes> {
  const { projection, formerIs, emailPointer } = version;

  return {
    async listUsers(request) {
      const { identity } = request;
      const filters = readFilters(request, readUserFilters);
      return answerList<User>({
        request,
        cursors,
        list: nameList("users", { ...filters }),
        projection,
        view: actions.viewOfUsers(identity),
        audience: audienceOf(identity),
        groups: ["users"],
        idOf: ({ id }) => id,
        toJson: (user) => version.toJson(user, actions.mayReadPrivate(identity, user)),
        readVersion: (page) => actions.listUserVersions(filters, page),
        load: (page) => actions.listUsers(filters, page),
      });
    },
    async getUser(request) {
      const { identity } = request;
      return answerRead(request, {
        readVersion: async () => show(identity, await actions.getActiveState(idOf(request), formerIs)),
        load: async () => answer(identity, await actions.getActiveUser(idOf(request), formerIs)),
      });
    },
    async createUser({ identity, body }) {
      const terms = { emailPointer };
      const user = await actions.createUser(identity, () => version.readNewUser(body), terms);
      const headers = { Location: `/v${projection.version}/users/${user.id}` };
      return { ...answer(identity, user), status: 201, headers, invalidates: ["users"] };
    },
    async updateUser(request) {
      const { identity, header, body } = request;
      const terms: ChangeTerms = { precondition: () => readPrecondition(header), formerIs, emailPointer };
      const user = await actions.updateUser(identity, idOf(request), () => version.readUserChanges(body), terms);
      return { ...answer(identity, user), invalidates: ["users", groupOf(user)] };
    },
  };

  function answer(identity: Identity, user: User): RestAnswer {
    const body = version.toJson(user, actions.mayReadPrivate(identity, user));
    return { status: 200, body, representation: show(identity, user) };
  }

  function show(identity: Identity, user: UserState): Representation {
    const view = actions.mayReadPrivate(identity, user) ? "private" : "public";
    const etag = writeEtag(user.rowVersion, projection, view);
    return { etag, audience: audienceOf(identity), groups: [groupOf(user)] };
  }
}

/** Whoever calls without a token sees what everybody may. Any other answer is its caller's own, whatever it shows. */
function audienceOf(identity: Identity): Audience {
  return identity.kind === "anonymous" ? "everybody" : "caller";
}

function groupOf({ id }: UserState): string {
  return `user-${id}`;
}

function idOf({ params }: RestRequest): string {
  return params["id"] ?? "";
}
