import { parseArgs } from "node:util";

export interface DifferentialOptions {
  /** The total, distributed evenly over the cases and rounded up; half with plain and half with colliding aliases. */
  readonly operations: number;
  /** Of the generator: the same seed generates the same operations. */
  readonly seed: number;
  /** Only cases whose names contain this text. */
  readonly case: string;
  /** Tests Apollo Gateway instead, to prove that the check finds differences. */
  readonly control: boolean;
}

const operationsDefault = 20_000;
const seedDefault = 20_261;

export const usage = `Usage: npm run verify:differential -- [options]

Sends generated operations to every test case (gateway/test/differential) through the gateway's full path and fast path. Both must return the data
that one schema without subgraphs returns, errors for the same nulls, and the same bytes. Every document that the gateway sends must be
valid against the schema of the subgraph that receives it. A difference is printed as JSON, with the smallest operation that shows it.

  --operations N   total, ${operationsDefault.toLocaleString("en")} by default; half with plain aliases, half with aliases that collide with other fields
  --seed N         ${seedDefault} by default; the same seed generates the same operations
  --case NAME      only cases whose names contain NAME
  --control        tests an unmodified Apollo Gateway: passes only if it finds differences
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): DifferentialOptions | undefined {
  const options = {
    operations: { type: "string", default: String(operationsDefault) },
    seed: { type: "string", default: String(seedDefault) },
    case: { type: "string", default: "" },
    control: { type: "boolean", default: false },
  } as const;
  try {
    const { operations, seed, ...more } = parseArgs({ args: [...args], options }).values;
    const isValid = /^[1-9]\d{0,6}$/.test(operations) && /^\d{1,9}$/.test(seed);
    return isValid ? { operations: Number(operations), seed: Number(seed), ...more } : undefined;
  } catch {
    return undefined;
  }
}
