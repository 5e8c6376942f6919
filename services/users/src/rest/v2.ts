import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { type User, userFields } from "../model.ts";
import { readNewUserV2, readUserChangesV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { renderSamples } from "./samples.ts";
import type { UserV2 } from "./schemas.ts";

/** `private` is absent for callers who may not read it. */
const toUserV2 = respondsWith<UserV2>()((user: User, seesPrivate: boolean) => {
  const publicPart = {
    id: user.id,
    ...userFields.of(user),
    avatar: user.avatarUrl === null ? null : { url: user.avatarUrl },
    createdAt: user.createdAt.toISOString(),
    role: user.role,
  };
  if (!seesPrivate) return publicPart;
  return { ...publicPart, private: { email: user.email, prefs: user.prefs } };
});

export const version2: RestVersion = {
  projection: createProjection(2, renderSamples(toUserV2)),
  deactivatedAs: "GONE",
  emailPointer: "#/private/email",
  toJson: toUserV2,
  readNewUser: readNewUserV2,
  readUserChanges: readUserChangesV2,
};
