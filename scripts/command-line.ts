import { parseArgs, type ParseArgsConfig } from "node:util";
import { InputError } from "@tributary/kit/errors/input-error";

export class CommandError extends InputError {
  readonly exitCode: number;

  /** @param options exitCode: 2 for a wrong command line, 0 for the usage that `--help` prints. */
  constructor(message: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "CommandError";
    this.exitCode = options.exitCode ?? 1;
  }
}

/** @throws CommandError with the usage: also for `--help`. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T, usage: string): ReturnType<typeof parseArgs<T>> {
  let parsed: ReturnType<typeof parseArgs<T>>;
  try {
    parsed = parseArgs(config);
  } catch (error) {
    throw createUsageError(error instanceof Error ? error.message : String(error), usage);
  }
  if ((parsed.values as { readonly help?: unknown }).help === true)
    throw new CommandError(usage.trimEnd(), { exitCode: 0 });
  return parsed;
}

/** The only argument. @param what it is, such as "folder". @throws CommandError with the usage unless there is exactly one. */
export function readOnlyArgument([first, ...others]: readonly string[], what: string, usage: string): string {
  if (first === undefined || others.length > 0) throw createUsageError(`Write one ${what}.`, usage);
  return first;
}

export function createUsageError(message: string, usage: string): CommandError {
  return new CommandError(`${message}\n\n${usage}`, { exitCode: 2 });
}

export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    process.exitCode = error instanceof CommandError ? error.exitCode : 1;
    const stream = process.exitCode === 0 ? process.stdout : process.stderr;
    stream.write(`${error.message}\n`);
  }
}
