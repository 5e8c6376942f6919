// A part of the verification `overload`, selected by `--only`. overload.ts lists the parts.
import { type Options, SkippedError, type VerificationRun } from "../../verification.ts";

/** The options that determine how long the parts run, and what they compare. */
export const partOptions = {
  seconds: {
    kind: "number",
    min: 2,
    max: 600,
    fallback: 10,
    quick: 2,
    why: "seconds for which each load is measured, after a ramp that is not",
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
  baseline: {
    kind: "text",
    placeholder: "FOLDER",
    why: "an installed checkout to which `calm-cost` compares this one; without it, this one with the features off",
  },
} as const satisfies Options;

/** What a part uses. What it starts is stopped before the next part. */
export type PartRun = Pick<
  VerificationRun<typeof partOptions>,
  "options" | "isControl" | "print" | "claim" | "onCleanup"
>;

export interface OverloadPart {
  /** The name for `--only`. */
  readonly name: string;
  /** What is proved if all claims hold. */
  readonly purpose: string;
  /** What `--control` breaks; undefined: the control leaves the part out. */
  readonly control?: string;
  run(run: PartRun): Promise<void>;
}

/**
 * Runs the parts one after another. A part whose requirement is missing on this machine is skipped.
 * @throws SkippedError if all are skipped, and what a part throws.
 */
export async function runParts(parts: readonly OverloadPart[], run: PartRun): Promise<void> {
  const skipped: SkippedError[] = [];
  for (const part of parts) {
    try {
      await runPart(part, run);
    } catch (error) {
      if (!(error instanceof SkippedError)) throw error;
      run.print(`      SKIPPED: ${error.message}.`);
      skipped.push(error);
    }
  }
  if (skipped[0] && skipped.length === parts.length) throw skipped[0];
}

/** Stops what the part has started. */
async function runPart(part: OverloadPart, run: PartRun): Promise<void> {
  const cleanups: (() => unknown)[] = [];
  const cleanUp = async () => {
    for (let next = cleanups.pop(); next; next = cleanups.pop()) await next();
  };
  // After an interruption the part does not end by itself.
  run.onCleanup(cleanUp);
  run.print(`\n${part.name}: ${part.purpose}`);
  try {
    await part.run({
      ...run,
      print: (line) => run.print(`      ${line}`),
      claim: (text, holds, options) => run.claim(`${part.name}: ${text}`, holds, options),
      onCleanup: (added) => void cleanups.push(added),
    });
  } finally {
    await cleanUp();
  }
}
