import { ConfigError } from "./env.ts";

/**
 * Runs a process's `main`, which returns when the process has started. If it fails, prints the reason on standard error and exits with 1: the problems of an invalid
 * configuration, else the error with its stack.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const text = error instanceof ConfigError || !(error instanceof Error) ? String(error) : error.stack;
    process.stderr.write(`${text}\n`);
    process.exit(1);
  }
}
