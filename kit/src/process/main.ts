import { setFlagsFromString } from "node:v8";
import { ConfigError } from "./env.ts";

/**
 * Called by each `main.ts` with its `main`, whose promise resolves when the process has started. If `main` fails, prints the problems of an invalid
 * configuration, or else the error with its stack, on standard error and exits with 1. First sets a V8 flag for the whole process.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  // By default, V8 allocates objects in the old generation if many earlier objects from the same place in the code lived long, as the objects of
  // requests do in a burst. Later objects from there then remain until the next full collection: a cheap request costs half as much again.
  setFlagsFromString("--no-allocation-site-pretenuring");
  try {
    await main();
  } catch (error) {
    // An error before `main` has resolved. A later uncaught error ends the process too, by Node's default.
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exit(1);
  }
}

function describeFailure(error: unknown): string | undefined {
  if (error instanceof ConfigError) return String(error);
  return error instanceof Error ? error.stack : String(error);
}
