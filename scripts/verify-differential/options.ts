import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** In all: spread over the animals of the zoo, half with plain and half with colliding aliases. */
  readonly operations: number;
  readonly seed: number;
  /** Only animals whose names hold this. */
  readonly animal: string;
  /** Ask stock instead, to see that the check finds what is wrong. */
  readonly control: boolean;
}

const operationsUsual = 20_000;
const seedUsual = 20_261;

export const usage = `Usage: npm run verify:differential -- [options]

Asks generated operations of every animal of the zoo (gateway/test/differential) by the full lane and by the fast lane. Both must give the data that
one schema without subgraphs gives, errors for the same nulls, and the same bytes, and every document that the gateway sends must be valid
against the schema of the subgraph that receives it. A difference is printed as JSON, with the smallest
operation that shows it.

  --operations N   in all, ${operationsUsual.toLocaleString("en")} by default; half with plain aliases, half with aliases that collide with other fields
  --seed N         ${seedUsual} by default; the same seed asks the same operations
  --animal NAME    only animals whose names hold NAME
  --control        asks Apollo Gateway as it comes: passes only when it finds differences
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
  const options = {
    operations: { type: "string", default: String(operationsUsual) },
    seed: { type: "string", default: String(seedUsual) },
    animal: { type: "string", default: "" },
    control: { type: "boolean", default: false },
  } as const;
  try {
    const { operations, seed, ...more } = parseArgs({ args: [...args], options }).values;
    const known = /^[1-9]\d{0,6}$/.test(operations) && /^\d{1,9}$/.test(seed);
    return known ? { operations: Number(operations), seed: Number(seed), ...more } : undefined;
  } catch {
    return undefined;
  }
}
