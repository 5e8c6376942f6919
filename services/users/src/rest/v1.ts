import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { type User, userFields } from "../model.ts";
import { readNewUserV1, readUserChangesV1 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { renderSamples } from "./samples.ts";
import type { UserV1 } from "./schemas.ts";

/** The private fields email and prefs are null for callers who may not read them. */
const toUserV1 = respondsWith<UserV1>()((user: User, seesPrivate: boolean) => ({
  id: user.id,
  ...userFields.of(user),
  email: seesPrivate ? user.email : null,
  avatarUrl: user.avatarUrl,
  createdAt: user.createdAt.toISOString(),
  role: user.role,
  prefs: seesPrivate ? user.prefs : null,
}));

export const version1: RestVersion = {
  projection: createProjection(1, renderSamples(toUserV1)),
  deactivatedAs: "NOT_FOUND",
  emailPointer: "#/email",
  toJson: toUserV1,
  readNewUser: readNewUserV1,
  readUserChanges: readUserChangesV1,
};
