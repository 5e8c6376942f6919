import { parseArgs } from "node:util";

export interface RestCheckOptions {
  /** The number of writes and reads together. */
  readonly operations: number;
  /** Writes bypass the proxy, to prove that the check finds stale reads. */
  readonly control: boolean;
}

const operationsDefault = 10_000;
const operationsMax = 1_000_000;

export const usage = `Usage: npm run verify:rest -- [options]

Starts PostgreSQL, posts, comments and one REST proxy, then writes and reads concurrently through the proxy. A read that starts after the
response to a write must include that write, also from the proxy's cache. Other replicas and writes through GraphQL are not covered.

  --operations N  1 to ${operationsMax.toLocaleString("en")}, ${operationsDefault.toLocaleString("en")} by default; one in five is a write
  --control       writes go to the services, bypassing the proxy's cache: passes only if stale reads are found
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): RestCheckOptions | undefined {
  try {
    const options = { operations: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { operations = String(operationsDefault), control } = parseArgs({ args: [...args], options }).values;
    const isValid = /^[1-9]\d{0,6}$/.test(operations) && Number(operations) <= operationsMax;
    return isValid ? { operations: Number(operations), control } : undefined;
  } catch {
    return undefined;
  }
}
