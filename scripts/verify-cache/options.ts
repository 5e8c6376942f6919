import { parseArgs } from "node:util";

export interface CacheSuiteOptions {
  /** Bypasses the cache, to prove that the tests fail without it. */
  readonly control: boolean;
  /** The id of the one test to run. */
  readonly only: string | undefined;
}

export const usage = `Usage: npm run verify:cache -- [options]

Runs the public HTTP cache tests (http-cache-tests, installed separately in tools/cache-suite) against the shared cache of the REST proxy,
which runs alone in front of the suite's origin. Compares the failures with scripts/verify-cache/known-failures.ts.

  --only ID   runs one test, and prints every request and response
  --control   sends the requests to the origin: passes only if the tests find that nothing is cached
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): CacheSuiteOptions | undefined {
  try {
    const options = { only: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { only, control } = parseArgs({ args: [...args], options }).values;
    return only === "" ? undefined : { control, only };
  } catch {
    return undefined;
  }
}
