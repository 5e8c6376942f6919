import { createProjection } from "@tributary/kit/http/etag";
import type { PrivatePart, Role, User } from "../model.ts";
import { readNewUserV2, readUserChangesV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { renderSpecimens } from "./specimens.ts";

/** A user in version 2: what is private stands apart, and is absent for those who may not see it. */
interface UserV2 {
  readonly id: string;
  readonly name: string;
  /** Null for who has none. */
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

/** Version 2 knows of accounts that were given up that they were there. */
export const version2: RestVersion = {
  projection: createProjection(2, renderSpecimens(toUserV2)),
  formerIs: "GONE",
  emailPointer: "#/private/email",
  toJson: toUserV2,
  readNewUser: readNewUserV2,
  readUserChanges: readUserChangesV2,
};
