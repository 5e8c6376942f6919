// Runs the commands of the verification compose, mostly docker.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandResult {
  readonly hasSucceeded: boolean;
  /** Standard output. */
  readonly out: string;
  /** The last characters of standard output and standard error, for error messages. */
  readonly outputEnd: string;
}

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const outputEndCharsMax = 4_000;

/** Runs a program in the repository's root. A missing program is reported as a failure. */
export function tryCommand(command: readonly string[], environment: Environment = {}): Promise<CommandResult> {
  const [program = "", ...args] = command;
  const options = { cwd: root, env: { ...process.env, ...environment }, maxBuffer: Infinity };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, out, errorOutput) => {
      const output = `${out}${errorOutput}${error?.message ?? ""}`;
      resolve({ hasSucceeded: error === null, out, outputEnd: output.slice(-outputEndCharsMax) });
    });
  });
}

/** @returns standard output. @throws Error with the end of the program's output if it fails. */
export async function runCommand(command: readonly string[], environment: Environment = {}): Promise<string> {
  const { hasSucceeded, out, outputEnd } = await tryCommand(command, environment);
  if (!hasSucceeded) throw new Error(`${command.join(" ")} failed:\n${outputEnd}`);
  return out;
}
