// Runs one verification: reads its options, prints its claims, stops what it started, and decides the exit code.
import { inspect } from "node:util";
import { describeVerification, readCommandLine } from "./command-line.ts";
import { type ClaimOptions, MissingToolError, SkippedError, type Verification } from "./verification.ts";

/**
 * 0: all claims hold (with `--control`: `ClaimOptions.control` is met by all claims that have it), or the verification was skipped. 1: a claim
 * failed, no claim was judged, or the run did not complete. 2: a missing program.
 */
export type ExitCode = 0 | 1 | 2;

/** @param print receives lines of output. @throws CommandError with the usage. */
export async function runVerification(
  verification: Verification,
  args: readonly string[],
  print: (line: string) => void,
): Promise<ExitCode> {
  const usage = describeVerification(verification);
  const { options, isControl, isQuick } = readCommandLine(verification.options, args, usage);
  const claims = createClaims(isControl, print);
  const cleanups = createCleanups();
  const interruption = watchForInterruption();
  try {
    const run = {
      options,
      isControl,
      isQuick,
      print,
      claim: claims.judge,
      onCleanup: cleanups.add,
    };
    await Promise.race([verification.run(run), interruption.rejection]);
  } catch (error) {
    // Only before the first claim: later, a requirement that is missing is a failure.
    const isNothingVerified = claims.count === 0;
    if (isNothingVerified && error instanceof SkippedError) {
      print(`SKIPPED: nothing was verified, because ${error.message}.`);
      return 0;
    }
    if (isNothingVerified && error instanceof MissingToolError) {
      print(`Nothing was verified: ${error.message}`);
      return 2;
    }
    claims.recordError("the verification completes", error);
  } finally {
    await cleanups
      .runAll()
      .catch((error: unknown) => claims.recordError("everything that was started is stopped", error));
    interruption.stopWatching();
  }
  const hasPassed = claims.printResult();
  return hasPassed ? 0 : 1;
}

/** What was measured is cut to this length: it can contain a whole response. */
const measuredCharsMax = 400;

function createClaims(isControl: boolean, print: (line: string) => void) {
  let passed = 0;
  let failed = 0;

  function record(text: string, hasPassed: boolean): void {
    if (hasPassed) passed++;
    else failed++;
    print(`${hasPassed ? "ok  " : "FAIL"}  ${text}`);
  }

  return {
    get count() {
      return passed + failed;
    },
    judge(claim: string, holds: boolean, { measured, control }: ClaimOptions = {}): void {
      const text = measured === undefined ? claim : `${claim}: ${measured.slice(0, measuredCharsMax)}`;
      const mustHold = !isControl || control === "holds";
      if (mustHold) record(text, holds);
      else if (control === "fails") record(`fails, as the control requires: ${text}`, !holds);
      else print(`${holds ? "holds" : "fails"} ${text}`); // Not judged: the control requires nothing of this claim.
    },
    /** Records that `claim` failed with this error, also with `--control`. */
    recordError(claim: string, error: unknown): void {
      record(`${claim}: ${error instanceof Error ? inspect(error) : String(error)}`, false);
    },
    /** @returns whether the verification has passed: at least one claim was judged, and none failed. */
    printResult(): boolean {
      print(`\n${passed} passed, ${failed} failed`);
      return passed > 0 && failed === 0;
    },
  };
}

/** The functions that stop what the verification has started. The one that was added last runs first. */
export function createCleanups() {
  const stack = new AsyncDisposableStack();
  return {
    add(cleanUp: () => unknown): void {
      // After SIGINT or SIGTERM, the verification may still start a process.
      if (stack.disposed) void (async () => cleanUp())().catch(() => {});
      else stack.defer(async () => void (await cleanUp()));
    },
    /** @throws the error of a function, or a SuppressedError with those of several. */
    runAll: () => stack.disposeAsync(),
  };
}

/** `rejection` rejects after SIGINT or SIGTERM, so that the started processes are stopped before this one ends. */
function watchForInterruption() {
  const { promise: rejection, reject } = Promise.withResolvers<never>();
  rejection.catch(() => {}); // Never an unhandled rejection, even if no code waits for it.
  const onSignal = (signal: string) => reject(new Error(`Ended by ${signal}.`));
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    rejection,
    stopWatching(): void {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
