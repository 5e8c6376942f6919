import { parseArgs } from "node:util";

export interface DurabilityOptions {
  /** In each round the service is killed once, and PostgreSQL once. */
  readonly rounds: number;
  /** Runs with synchronous_commit = off, to prove that the check finds lost orders. */
  readonly control: boolean;
}

const roundsDefault = 20;
const roundsMax = 1_000;

export const usage = `Usage: npm run verify:durability -- [options]

Kills the orders service and PostgreSQL with kill -9 while ten clients place orders with idempotency keys, and retry each order until
it is confirmed. Then every confirmed order must be in the database exactly once, and the stock must match the orders.

  --rounds N    1 to ${roundsMax.toLocaleString("en")}, ${roundsDefault} by default; each round kills the service once, and PostgreSQL once
  --control     sets synchronous_commit = off: passes only if it finds that confirmed orders were lost
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): DurabilityOptions | undefined {
  try {
    const options = { rounds: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { rounds = String(roundsDefault), control } = parseArgs({ args: [...args], options }).values;
    const isValid = /^[1-9]\d{0,3}$/.test(rounds) && Number(rounds) <= roundsMax;
    return isValid ? { rounds: Number(rounds), control } : undefined;
  } catch {
    return undefined;
  }
}
