import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Standard output. */
  readonly out: string;
  /** The end of both outputs, for whoever has to find out why. */
  readonly lastWords: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const lastWordsCharsMax = 4_000;

/** Runs a program from the repository's root. A program that is not there is one that fails. */
export async function tryCommand(words: readonly string[], environment: Environment = {}): Promise<CommandResult> {
  const [program = "", ...args] = words;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let both = "";
  const hear = (text: string) => void (both = (both + text).slice(-lastWordsCharsMax));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    hear(text);
  });
  child.stderr.setEncoding("utf8").on("data", hear);
  child.on("error", (error) => hear(String(error)));
  const [code] = (await once(child, "close").catch(() => [1])) as [number | null];
  return { code, out, lastWords: both };
}

/** @returns standard output. @throws Error with the program's last words when it fails. */
export async function runCommand(words: readonly string[], environment: Environment = {}): Promise<string> {
  const { code, out, lastWords } = await tryCommand(words, environment);
  if (code !== 0) throw new Error(`${words.join(" ")} failed (${code}):\n${lastWords}`);
  return out;
}
