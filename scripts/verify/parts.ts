// Verifications in parts, which `--only` selects. What a part starts is stopped before the next part.
import { type Options, SkippedError, type VerificationRun } from "./verification.ts";

export type PartRun<O extends Options> = Pick<
  VerificationRun<O>,
  "options" | "isControl" | "print" | "claim" | "onCleanup"
>;

export interface VerificationPart<O extends Options> {
  readonly name: string;
  /** What is proved if all claims hold. */
  readonly purpose: string;
  /** What `--control` breaks. */
  readonly control: string;
  run(run: PartRun<O>): Promise<void>;
}

/**
 * Runs the parts one after another. A part whose requirement is missing on this machine is skipped.
 * @throws SkippedError if all parts are skipped. Any other error of a part is thrown at once, so no further part runs.
 */
export async function runParts<O extends Options>(
  parts: readonly VerificationPart<O>[],
  run: PartRun<O>,
): Promise<void> {
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
  const [firstSkipped] = skipped;
  const areAllSkipped = skipped.length === parts.length;
  if (firstSkipped && areAllSkipped) throw firstSkipped;
}

/** Runs the part, then stops what it has started, also after an error. */
async function runPart<O extends Options>(part: VerificationPart<O>, run: PartRun<O>): Promise<void> {
  const cleanups: (() => unknown)[] = [];
  // The last registered first. Each runs only once, since it is removed.
  const cleanUp = async () => {
    for (let next = cleanups.pop(); next; next = cleanups.pop()) await next();
  };
  // SIGINT and SIGTERM do not end `part.run`, so after them runner.ts calls `cleanUp`.
  run.onCleanup(cleanUp);
  run.print(`\n${part.name}: ${part.purpose}`);
  try {
    await part.run({
      options: run.options,
      isControl: run.isControl,
      print: (line) => run.print(`      ${line}`),
      claim: (text, holds, claimOptions) => run.claim(`${part.name}: ${text}`, holds, claimOptions),
      onCleanup(cleanUpOfPart) {
        cleanups.push(cleanUpOfPart);
      },
    });
  } finally {
    await cleanUp();
  }
}
