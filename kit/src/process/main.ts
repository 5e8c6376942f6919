import { setFlagsFromString } from "node:v8";
import { ConfigError } from "./env.ts";

/** Runs the `main` of a `main.ts`. If it fails, prints the problem on standard error and exits with 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  // By default, V8 allocates objects in the old generation if many earlier ones from the same code lived long, as those of requests do in a burst.
  // They remain until the next full collection: a cheap request costs half as much again.
  setFlagsFromString("--no-allocation-site-pretenuring");
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exit(1);
  }
}

function describeFailure(error: unknown): string | undefined {
  if (error instanceof ConfigError) return String(error);
  return error instanceof Error ? error.stack : String(error);
}
