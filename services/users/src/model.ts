import { defineFields, type ValuesOf } from "@tributary/kit/fields/fields";
import { idempotencyKeyInput } from "@tributary/kit/idempotency/idempotency-key";
import { listOrder, type ListOrder, optionalFilter } from "@tributary/kit/lists/list-order";
import { parseShape, text } from "@tributary/kit/errors/validate";
import { z } from "zod";

const roles = ["READER", "AUTHOR", "EDITOR", "ADMIN"] as const;
export type Role = (typeof roles)[number];

interface Preferences {
  readonly locale?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  readonly theme?: "LIGHT" | "DARK" | "SYSTEM" | null | undefined;
  readonly newsletter?: boolean | null | undefined;
}

/** The public fields with one name in the graph and in both REST versions. CONTRIBUTING.md, "Add a field". */
export const userFields = defineFields({
  name: { text: { min: 1, max: 80, what: "A name" }, example: "Ada Lovelace" },
});

/** The fields that decide whether REST shows a user, and which ETag the user has. */
export interface UserState {
  readonly id: string;
  readonly deactivatedAt: Date | null;
  readonly rowVersion: string;
}

export interface User extends UserState, ValuesOf<typeof userFields> {
  readonly email: string | null;
  readonly avatarUrl: string | null;
  readonly createdAt: Date;
  readonly role: Role;
  readonly prefs: Preferences | null;
}

/** Visible to the user, and to callers with `users:read:private`. */
export type PrivatePart = Pick<User, "email" | "prefs">;

export interface UserFilters {
  readonly role?: Role | undefined;
  /** Each word matches the beginning of a word of the name. */
  readonly search?: string | undefined;
  readonly sort?: ListOrder;
}

/** Replaces the name of a deactivated account. */
export const formerUserName = "Former user";

export const email = z
  .string("An email address is a string.")
  .trim()
  .toLowerCase()
  .max(254, "An email address has at most 254 characters.")
  .pipe(z.email("This is not an email address."));

/** The characters of RFC 3986, without IPv6 addresses: `format: uri` of the REST reference. */
const httpUrlPattern =
  /^https?:\/\/(?:[\w.~:/?@!$&'()*+,;=-]|%[\da-f]{2})+(?:#(?:[\w.~:/?@!$&'()*+,;=-]|%[\da-f]{2})*)?$/i;

export const avatarUrl = z
  .string("An avatar is an http(s) address.")
  .max(2_048, "An address has at most 2,048 characters.")
  .refine(isHttpUrl, { error: "An avatar is an http(s) address.", params: { code: "url" } })
  // The scheme has no case (RFC 3986, 3.1); the constraint of the table and the REST reference have it in lower case.
  .transform((address) => address.replace(/^https?/i, (scheme) => scheme.toLowerCase()));

export const prefs = z.strictObject({
  locale: z
    .string()
    .max(35)
    .refine(isLocale, { error: "A locale is a BCP 47 tag, such as en-GB.", params: { code: "locale" } })
    .nullish(),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, { error: "A time zone is an IANA name, such as Europe/London.", params: { code: "time_zone" } })
    .nullish(),
  theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
  newsletter: z.boolean().nullish(),
});

export const role = z.enum(roles, `A role is one of ${roles.join(", ")}.`);

export const newUser = z.strictObject({
  ...userFields.created,
  email: email.nullish(),
  avatarUrl: avatarUrl.nullish(),
  role: role.nullish(),
  prefs: prefs.nullish(),
});

const createUserInput = newUser.extend({ idempotencyKey: idempotencyKeyInput });

export const userChanges = z.strictObject({
  ...userFields.changed,
  email: email.nullish(),
  avatarUrl: avatarUrl.nullish(),
  role: role.optional(),
  prefs: prefs.nullish(),
});

const filters = z.strictObject({
  role: optionalFilter(role),
  search: optionalFilter(text({ min: 1, max: 80, what: "A search" })),
  sort: listOrder,
});

export interface NewUser extends z.output<typeof newUser> {
  /** Without a key a repeated request creates another user. */
  readonly idempotencyKey?: string | undefined;
}
/** An undefined field remains, a null field is cleared; the same applies to each preference. */
export type UserChanges = z.output<typeof userChanges>;

/** Reads GraphQL input; rest/read.ts reads REST bodies. @throws AppError BAD_USER_INPUT with every problem. */
export const readNewUser = (input: unknown): NewUser => parseShape(createUserInput, input);
/** GraphQL input and bodies of REST version 1. @throws AppError BAD_USER_INPUT with every problem. */
export const readUserChanges = (input: unknown): UserChanges => parseShape(userChanges, input);
/** @throws AppError BAD_USER_INPUT with every problem. */
export const readUserFilters = (input: unknown): UserFilters => parseShape(filters, input);

function isHttpUrl(address: string): boolean {
  return httpUrlPattern.test(address) && URL.canParse(address);
}

function isLocale(tag: string): boolean {
  try {
    // Intl throws a RangeError for a malformed tag.
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

function isTimeZone(zone: string): boolean {
  // Intl also accepts an offset such as +01:00, which is not an IANA name.
  const beginsWithLetter = /^[A-Za-z]/.test(zone);
  if (!beginsWithLetter) return false;
  try {
    // Intl throws a RangeError for an unknown name.
    return Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
