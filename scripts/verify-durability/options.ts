import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** In each the service is killed once, and PostgreSQL once. */
  readonly rounds: number;
  /** Run on a database that forgets, to see that the check finds it. */
  readonly control: boolean;
}

const roundsUsual = 20;
const roundsMax = 1_000;

export const usage = `Usage: npm run verify:durability -- [options]

Kills the orders service and PostgreSQL with kill -9 while ten clients order with keys and send again until they are told.
Then every order that was confirmed must be in the database exactly once, and stock must add up.

  --rounds N    1 to ${roundsMax.toLocaleString("en")}, ${roundsUsual} by default; each kills the service once, and PostgreSQL once
  --control     with synchronous_commit = off: passes only when it finds that confirmed orders were lost
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
  try {
    const options = { rounds: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { rounds = String(roundsUsual), control } = parseArgs({ args: [...args], options }).values;
    const known = /^[1-9]\d{0,3}$/.test(rounds) && Number(rounds) <= roundsMax;
    return known ? { rounds: Number(rounds), control } : undefined;
  } catch {
    return undefined;
  }
}
