// A part of the verification `freshness`, selected by `--only`. freshness.ts lists the parts.
import type { PartRun as RunOf, VerificationPart } from "../../parts.ts";
import type { Options } from "../../verification.ts";

export const partOptions = {
  operations: {
    kind: "number",
    min: 100,
    max: 1_000_000,
    fallback: 10_000,
    quick: 1_500,
    why: "writes and reads of `consistency`",
  },
  samples: { kind: "number", min: 20, max: 100_000, fallback: 500, quick: 50, why: "writes of `latency`" },
  writes: { kind: "number", min: 1, max: 1_000, fallback: 20, quick: 2, why: "writes of `cdn` through each API" },
  seconds: { kind: "number", min: 10, max: 600, fallback: 60, quick: 10, why: "duration of `feed-load`" },
} as const satisfies Options;

export type PartRun = RunOf<typeof partOptions>;
export type FreshnessPart = VerificationPart<typeof partOptions>;
