// A part of the verification `overload`, selected by `--only`. overload.ts lists the parts.
import type { PartRun as RunOf, VerificationPart } from "../../parts.ts";
import type { Options } from "../../verification.ts";

/** The options that determine how long the parts run. */
export const partOptions = {
  seconds: {
    kind: "number",
    min: 2,
    max: 600,
    fallback: 10,
    quick: 2,
    why: "seconds for which each load is measured, after a ramp that is not measured",
  },
  inputSeconds: {
    kind: "number",
    min: 1,
    max: 60,
    fallback: 1,
    why: "seconds for which `refused-inputs` measures each input, after 1 s of warm-up",
  },
  rounds: {
    kind: "number",
    min: 1,
    max: 100,
    fallback: 20,
    quick: 5,
    why: "rounds of `calm-cost`",
  },
} as const satisfies Options;

export type PartRun = RunOf<typeof partOptions>;
export type OverloadPart = VerificationPart<typeof partOptions>;
