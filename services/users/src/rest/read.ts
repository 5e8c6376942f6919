import { requireBody } from "@tributary/kit/rest";
import { type NewUser, readNewUser, readUserChanges, type UserChanges } from "../model.ts";

/** Version 1 spells a user's input as the model does. */
export const readNewUserV1 = (body: unknown): NewUser => readNewUser(requireBody(body));

/** A merge patch (RFC 7396) over the fields of version 1. */
export const readUserChangesV1 = (body: unknown): UserChanges => readUserChanges(requireBody(body));
