import { createProjection } from "@tributary/kit/http/etag";
import type { Preferences, Role, User } from "../model.ts";
import { readNewUserV1, readUserChangesV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { renderSamples } from "./samples.ts";

/** A user in version 1. The private fields email and prefs are null for callers who may not read them. */
interface UserV1 {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly avatarUrl: string | null;
  readonly createdAt: string;
  readonly role: Role;
  readonly prefs: Preferences | null;
}

function toUserV1(user: User, seesPrivate: boolean): UserV1 {
  return {
    id: user.id,
    name: user.name,
    email: seesPrivate ? user.email : null,
    avatarUrl: user.avatarUrl,
    createdAt: user.createdAt.toISOString(),
    role: user.role,
    prefs: seesPrivate ? user.prefs : null,
  };
}

export const version1: RestVersion = {
  projection: createProjection(1, renderSamples(toUserV1)),
  deactivatedAs: "NOT_FOUND",
  emailPointer: "#/email",
  toJson: toUserV1,
  readNewUser: readNewUserV1,
  readUserChanges: readUserChangesV1,
};
