// Version 2 of the REST representation of users: its bodies and what else differs from the other version. rest.ts has the handlers of both.
import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { type User, userFields } from "../model.ts";
import { readNewUserV2, readUserChangesV2 } from "./read.ts";
import type { RestVersion } from "./rest.ts";
import { renderSamples } from "./samples.ts";
import type { UserV2 } from "./schemas.ts";

/** `private` is absent for callers who may not read it. `respondsWith` compares the members with the OpenAPI schema at compile time. */
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
  // Part of each ETag of this version. It changes when the code writes the samples differently.
  projection: createProjection(2, renderSamples(toUserV2)),
  deactivatedAs: "GONE",
  emailPointer: "#/private/email",
  toJson: toUserV2,
  readNewUser: readNewUserV2,
  readUserChanges: readUserChangesV2,
};
