import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** Past the cache, to see that its absence is found. */
  readonly control: boolean;
  /** The id of the one test to run. */
  readonly only: string | undefined;
}

export const usage = `Usage: npm run verify:cache -- [options]

Runs the public tests of HTTP caches (http-cache-tests, installed aside in tools/cache-suite) against the shared cache of the REST proxy, alone in
front of the tests' own origin, and holds what fails against scripts/verify-cache/known-failures.ts.

  --only ID   one test, with every request and answer
  --control   asks the origin itself: passes only when it is found that nothing is cached
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
  try {
    const options = { only: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { only, control } = parseArgs({ args: [...args], options }).values;
    return only === "" ? undefined : { control, only };
  } catch {
    return undefined;
  }
}
