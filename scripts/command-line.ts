import { parseArgs, type ParseArgsConfig } from "node:util";
import { ConfigError } from "@tributary/kit/process/env";

/** An error that the developer can correct. Its message is printed without a stack. */
export class CommandError extends Error {
  readonly exitCode: number;

  /** @param options exitCode: 2 for a wrong command line, 0 for the usage that `--help` prints. */
  constructor(message: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "CommandError";
    this.exitCode = options.exitCode ?? 1;
  }
}

/** @throws CommandError with the usage. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T, usage: string): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw createUsageError(error instanceof Error ? error.message : String(error), usage);
  }
}

export function createUsageError(message: string, usage: string): CommandError {
  return new CommandError(`${message}\n\n${usage}`, { exitCode: 2 });
}

export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof ConfigError)) throw error;
    process.exitCode = error instanceof CommandError ? error.exitCode : 1;
    const stream = process.exitCode === 0 ? process.stdout : process.stderr;
    stream.write(`${error.message}\n`);
  }
}
