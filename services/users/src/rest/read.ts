import { requireBody } from "@tributary/kit/rest/body";
import { parseShape } from "@tributary/kit/errors/validate";
import { z } from "zod";
import {
  avatarUrl,
  email,
  type NewUser,
  newUser,
  prefs,
  readUserChanges,
  role,
  type userChanges,
  type UserChanges,
  userFields,
} from "../model.ts";

export const readNewUserV1 = (body: unknown): NewUser => parseShape(newUser, requireBody(body));

/** A merge patch (RFC 7396) over the fields of version 1. */
export const readUserChangesV1 = (body: unknown): UserChanges => readUserChanges(requireBody(body));

const privatePart = z.strictObject({ email: email.nullish(), prefs: prefs.nullish() });
const noPrivateFields = { email: null, prefs: null } as const;

const newUserV2 = z
  .strictObject({
    ...userFields.created,
    avatar: z.strictObject({ url: avatarUrl }).nullish(),
    role: role.nullish(),
    private: privatePart.nullish(),
  })
  .transform(({ avatar, private: privateFields, ...fields }): NewUser => ({
    ...fields,
    avatarUrl: avatar?.url,
    ...privateFields,
  }));

/** RFC 7396 applies to nested objects too: null for the object clears all members. An avatar without a URL is no avatar. */
const userChangesV2 = z
  .strictObject({
    ...userFields.changed,
    avatar: z.strictObject({ url: avatarUrl.optional() }).nullish(),
    role: role.optional(),
    private: privatePart.nullish(),
  })
  .transform(({ avatar, private: privateFields, ...fields }): UserChanges => {
    const privateChange = privateFields === null ? noPrivateFields : privateFields;
    return { ...fields, avatarUrl: avatar === null ? null : avatar?.url, ...privateChange };
  });

/** Version 1 has the field names of the model. */
export type NewUserV1 = z.input<typeof newUser>;
export type UserChangesV1 = z.input<typeof userChanges>;
export type NewUserV2 = z.input<typeof newUserV2>;
export type UserChangesV2 = z.input<typeof userChangesV2>;

/** Version 2 has the private fields in the object `private`. */
export const readNewUserV2 = (body: unknown): NewUser => parseShape(newUserV2, requireBody(body));

/** A merge patch (RFC 7396) over the fields of version 2. */
export const readUserChangesV2 = (body: unknown): UserChanges => parseShape(userChangesV2, requireBody(body));
