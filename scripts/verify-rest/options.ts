import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** Writes and reads together. */
  readonly operations: number;
  /** Writes go past the proxy, to see that stale reads are found. */
  readonly control: boolean;
}

const operationsUsual = 10_000;
const operationsMax = 1_000_000;

export const usage = `Usage: npm run verify:rest -- [options]

Starts PostgreSQL, posts, comments and one REST proxy, then writes and reads concurrently through the proxy. A read that starts after the
response to a write must include that write, also from the proxy's cache. Other replicas and writes through GraphQL are not covered.

  --operations N  1 to ${operationsMax.toLocaleString("en")}, ${operationsUsual.toLocaleString("en")} by default; one in five is a write
  --control       writes go to the services, past the proxy's cache: passes only when stale reads are found
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
  try {
    const options = { operations: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { operations = String(operationsUsual), control } = parseArgs({ args: [...args], options }).values;
    const known = /^[1-9]\d{0,6}$/.test(operations) && Number(operations) <= operationsMax;
    return known ? { operations: Number(operations), control } : undefined;
  } catch {
    return undefined;
  }
}
