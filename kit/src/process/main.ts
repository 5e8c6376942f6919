import { ConfigError } from "./env.ts";

/**
 * Runs a process's `main`. What keeps it from starting is said on standard error for whoever reads the terminal: a wrong configuration
 * as a list of its problems, anything else with its stack. The exit code is 1 then.
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
