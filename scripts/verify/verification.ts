// A control is a run with `--control`: it breaks something on purpose, and passes only if the claims detect it. So it proves that they can
// fail; `ClaimOptions.control` says what it requires of each claim.

/** Its value has the type of the default: a number, a text, or names that are among those of the default, such as `--only a,b`. */
interface VerificationOption<Value> {
  readonly fallback: Value;
  /** The value with `--quick`, unless the option is on the command line. By default `fallback`. */
  readonly quick?: Value;
  readonly why: string;
}

export type Options = Readonly<
  Record<string, VerificationOption<number> | VerificationOption<string> | VerificationOption<readonly string[]>>
>;

type ValueOf<Fallback> = Fallback extends number
  ? number
  : Fallback extends readonly (infer Name)[]
    ? readonly Name[]
    : string;

export type OptionValues<O extends Options> = { readonly [Name in keyof O]: ValueOf<O[Name]["fallback"]> };

export interface Verification<O extends Options = Options> {
  /** The argument of `npm run verify`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly options: O;
  /** What a control breaks on purpose, for `--help`. */
  readonly control: string;
  /**
   * Starts what it needs, and records its claims.
   * @throws SkippedError or MissingToolError (below). After any other error the verification has failed, also with `--control`.
   */
  run(run: VerificationRun<O>): Promise<void>;
}

export interface VerificationRun<O extends Options = Options> {
  readonly options: OptionValues<O>;
  /** Whether this run is a control: the verification itself then breaks what its `control` says. */
  readonly isControl: boolean;
  /** Whether the run has to be short. */
  readonly isQuick: boolean;
  readonly print: (line: string) => void;
  /** Prints and records whether a promise holds. */
  claim(text: string, holds: boolean, options?: ClaimOptions): void;
  /** Registers a function that runs at the end, the last one first: also after an error, SIGINT or SIGTERM. */
  onCleanup(cleanUp: () => unknown): void;
}

export interface ClaimOptions {
  /** Printed after the claim. */
  readonly measured?: string;
  /** What a control requires of the claim: that it does not hold, or that it holds. It prints a claim without `control`, and does not judge it. */
  readonly control?: "fails" | "holds";
}

/** A requirement of the verification is missing on this machine. Nothing is verified, and the exit code is 0. */
export class SkippedError extends Error {}

/** A program that the verification needs is missing, or cannot be installed. The exit code is 2. */
export class MissingToolError extends Error {}

export function defineVerification<const O extends Options>(verification: Verification<O>): Verification {
  return verification;
}
