// Runs the commands of the verification compose, mostly docker.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandResult {
  /** Null if a signal ended the program. */
  readonly code: number | null;
  /** Standard output. */
  readonly out: string;
  /** The last characters of standard output and standard error, for error messages. */
  readonly outputEnd: string;
}

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const outputEndCharsMax = 4_000;

/** Runs a program in the repository's root. A missing program is reported as a failure. */
export async function tryCommand(command: readonly string[], environment: Environment = {}): Promise<CommandResult> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let outputEnd = "";
  const appendToEnd = (text: string) => {
    outputEnd = (outputEnd + text).slice(-outputEndCharsMax);
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    appendToEnd(text);
  });
  child.stderr.setEncoding("utf8").on("data", appendToEnd);
  child.on("error", (error) => appendToEnd(String(error)));
  // `once` rejects if the program is missing: that counts as exit code 1.
  const [code] = (await once(child, "close").catch(() => [1])) as [number | null];
  return { code, out, outputEnd };
}

/** @returns standard output. @throws Error with the end of the program's output if it fails. */
export async function runCommand(command: readonly string[], environment: Environment = {}): Promise<string> {
  const { code, out, outputEnd } = await tryCommand(command, environment);
  if (code !== 0) throw new Error(`${command.join(" ")} failed (${code}):\n${outputEnd}`);
  return out;
}
