// The running service imports only the types. `documentsRequestBody` compares each schema with the type in read.ts, at compile time.
import { documentChanges, documentFields, documentNewFields } from "@tributary/kit/openapi/field-schemas";
import { opaqueId, responseText, timestamp } from "@tributary/kit/openapi/schemas";
import { documentsRequestBody } from "@tributary/kit/rest/documented-bodies";
import { z } from "zod";
import { role, userFields } from "../model.ts";
import type { NewUserV1, NewUserV2, UserChangesV1, UserChangesV2 } from "./read.ts";

/** Only host names with a dot: the service accepts each string that matches, and tools generate bodies from it. */
const urlInput = z
  .string()
  .max(2_048)
  .regex(
    /^https?:\/\/[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*\.[a-z]{2,24}(?:\/[A-Za-z0-9._~!$&'()*+,;=:@?/-]*)?$/,
  )
  .meta({ format: "uri", examples: ["https://avatars.example.org/ada.png"] });
const urlOutput = z
  .string()
  .max(2_048)
  .regex(/^https?:\/\//)
  .meta({ format: "uri", examples: ["https://avatars.example.org/1.png"] });

/** Without `format: email`, which validators implement differently. */
const emailText = z
  .email()
  .max(254)
  .meta({ format: undefined, examples: ["ada.lovelace@example.org"] });

const preferencesInput = z
  .strictObject({
    locale: z
      .string()
      .max(35)
      .regex(/^(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?$/)
      .nullish()
      .meta({ description: "A BCP 47 tag of language, script and region.", examples: ["en-GB"] }),
    timeZone: z
      .string()
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/)
      .nullish()
      .meta({
        description: "An IANA time zone name. An unknown name is rejected with 422.",
        examples: ["Europe/London"],
      }),
    theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
    newsletter: z.boolean().nullish(),
  })
  .meta({ id: "PreferencesInput" });
const preferencesOutput = z
  .strictObject({
    locale: responseText(35, "en-GB").nullish(),
    timeZone: responseText(64, "Europe/London").nullish(),
    theme: z.enum(["LIGHT", "DARK", "SYSTEM"]).nullish(),
    newsletter: z.boolean().nullish(),
  })
  .meta({ id: "Preferences" });

const commonFields = {
  id: opaqueId("The user's id.", "1"),
  ...documentFields(userFields),
  createdAt: timestamp("When the account was created."),
  role: role.meta({ description: "Descriptive only: a role grants no permission." }),
};

export const userV1 = z
  .strictObject({
    ...commonFields,
    email: emailText
      .nullable()
      .meta({ description: "Null if the user has none, and for callers who may not read it." }),
    avatarUrl: urlOutput.nullable(),
    prefs: preferencesOutput
      .nullable()
      .meta({ description: "Null if the user has none, and for callers who may not read them." }),
  })
  .meta({ id: "User" });
export type UserV1 = z.output<typeof userV1>;

export const userV2 = z
  .strictObject({
    ...commonFields,
    avatar: z.strictObject({ url: urlOutput }).nullable(),
    private: z
      .strictObject({ email: emailText.nullable(), prefs: preferencesOutput.nullable() })
      .optional()
      .meta({ description: "Absent for callers who may not read it." }),
  })
  .meta({ id: "User" });
export type UserV2 = z.output<typeof userV2>;

const privateInput = z.strictObject({ email: emailText.nullish(), prefs: preferencesInput.nullish() });

export const newUserV1 = documentsRequestBody<NewUserV1>()(
  z
    .strictObject({
      ...documentNewFields(userFields),
      email: emailText.nullish(),
      avatarUrl: urlInput.nullish(),
      role: role.nullish(),
      prefs: preferencesInput.nullish(),
    })
    .meta({ id: "NewUser" }),
);

export const newUserV2 = documentsRequestBody<NewUserV2>()(
  z
    .strictObject({
      ...documentNewFields(userFields),
      avatar: z.strictObject({ url: urlInput }).nullish(),
      role: role.nullish(),
      private: privateInput.nullish(),
    })
    .meta({ id: "NewUser" }),
);

export const userChangesV1 = documentsRequestBody<UserChangesV1>()(
  z
    .strictObject({
      ...documentChanges(userFields),
      email: emailText.nullish(),
      avatarUrl: urlInput.nullish(),
      // A change cannot remove the role: null is rejected.
      role: role.optional(),
      prefs: preferencesInput.nullish(),
    })
    .meta({ id: "UserChanges" }),
);

export const userChangesV2 = documentsRequestBody<UserChangesV2>()(
  z
    .strictObject({
      ...documentChanges(userFields),
      avatar: z.strictObject({ url: urlInput.optional() }).nullish(),
      role: role.optional(),
      private: privateInput.nullish(),
    })
    .meta({ id: "UserChanges" }),
);
