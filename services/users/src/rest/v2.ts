import { createProjection } from "@tributary/kit/http/etag";
import type { PrivatePart, Role, User } from "../model.ts";
import { readNewUserV2, readUserChangesV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { renderSamples } from "./samples.ts";

/** A user in version 2. `private` is absent for callers who may not read it. */
interface UserV2 {
  readonly id: string;
  readonly name: string;
  readonly avatar: { readonly url: string } | null;
  readonly createdAt: string;
  readonly role: Role;
  readonly private?: PrivatePart;
}

function toUserV2(user: User, seesPrivate: boolean): UserV2 {
  return {
    id: user.id,
    name: user.name,
    avatar: user.avatarUrl === null ? null : { url: user.avatarUrl },
    createdAt: user.createdAt.toISOString(),
    role: user.role,
    ...(seesPrivate ? { private: { email: user.email, prefs: user.prefs } } : {}),
  };
}

export const version2: RestVersion = {
  projection: createProjection(2, renderSamples(toUserV2)),
  deactivatedAs: "GONE",
  emailPointer: "#/private/email",
  toJson: toUserV2,
  readNewUser: readNewUserV2,
  readUserChanges: readUserChangesV2,
};
