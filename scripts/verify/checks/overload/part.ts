// A part of the verification `overload`, selected by `--only`. overload.ts lists the parts.
import type { PartRun as RunOf, VerificationPart } from "../../parts.ts";
import type { Options } from "../../verification.ts";

/** How long the parts run. */
export const partOptions = {
  seconds: {
    kind: "number",
    min: 2,
    max: 600,
    fallback: 10,
    quick: 2,
    why: "seconds for which each load is measured, after a ramp that is not measured",
  },
} as const satisfies Options;

export type PartRun = RunOf<typeof partOptions>;
export type OverloadPart = VerificationPart<typeof partOptions>;
