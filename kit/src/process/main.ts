import { setFlagsFromString } from "node:v8";
import { ConfigError } from "./env.ts";

/**
 * Runs a process's `main`, which returns when the process has started. If it fails, prints the reason on standard error and exits with 1: the problems of an invalid
 * configuration, else the error with its stack.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  // By default V8 allocates an object in the old generation if earlier ones from the same place in the code lived long. The objects of a request do
  // in a burst. From then on each request would keep its objects until the next full collection: a cheap one costs half as much again.
  setFlagsFromString("--no-allocation-site-pretenuring");
  try {
    await main();
  } catch (error) {
    const text = error instanceof ConfigError || !(error instanceof Error) ? String(error) : error.stack;
    process.stderr.write(`${text}\n`);
    process.exit(1);
  }
}
