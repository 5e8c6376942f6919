import type { Preferences, Role, User } from "../model.ts";

/** A user in version 1: seven fields, the private two null for those who may not see them. */
export interface UserV1 {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly avatarUrl: string | null;
  readonly createdAt: string;
  readonly role: Role;
  readonly prefs: Preferences | null;
}

export function toUserV1(user: User, seesPrivate: boolean): UserV1 {
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
