import { requireBody } from "@tributary/kit/rest/rest-endpoint";
import { readShape } from "@tributary/kit/errors/validate";
import { z } from "zod";
import {
  avatarUrl,
  email,
  name,
  type NewUser,
  prefs,
  readNewUser,
  readUserChanges,
  role,
  type UserChanges,
} from "../model.ts";

/** Version 1 spells a user's input as the model does. */
export const readNewUserV1 = (body: unknown): NewUser => readNewUser(requireBody(body));

/** A merge patch (RFC 7396) over the fields of version 1. */
export const readUserChangesV1 = (body: unknown): UserChanges => readUserChanges(requireBody(body));

const privatePart = z.strictObject({ email: email.nullish(), prefs: prefs.nullish() });

const newUserV2 = z
  .strictObject({
    name,
    avatar: z.strictObject({ url: avatarUrl }).nullish(),
    role: role.nullish(),
    private: privatePart.nullish(),
  })
  .transform(({ name, avatar, role, private: hidden }): NewUser => ({ name, role, avatarUrl: avatar?.url, ...hidden }));

/** A merge patch goes into objects: what is left out of one stays, and null for the whole clears all of it. */
const userChangesV2 = z
  .strictObject({
    name: name.optional(),
    avatar: z.strictObject({ url: avatarUrl.optional() }).nullish(),
    role: role.optional(),
    private: privatePart.nullish(),
  })
  .transform(({ name, avatar, role, private: hidden }): UserChanges => ({
    name,
    role,
    avatarUrl: avatar === null ? null : avatar?.url,
    ...(hidden === null ? { email: null, prefs: null } : hidden),
  }));

/** Version 2 has a user's private part in an object of its own. */
export const readNewUserV2 = (body: unknown): NewUser => readShape(newUserV2, requireBody(body));

/** A merge patch (RFC 7396) over the fields of version 2. */
export const readUserChangesV2 = (body: unknown): UserChanges => readShape(userChangesV2, requireBody(body));
