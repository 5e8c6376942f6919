import { parseArgs } from "node:util";

export interface RollingOptions {
  /** The request rate through gateway and REST proxy together. */
  readonly perSecond: number;
  /** Processes are killed instead of drained, to prove that failed requests are found. */
  readonly control: boolean;
  /** A folder for the output of each process, one file each. */
  readonly logs: string | undefined;
}

const perSecondDefault = 40;
const perSecondMax = 1_000;

export const usage = `Usage: npm run verify:rolling -- [options]

Starts PostgreSQL and two processes of each service, the gateway and the REST proxy, with a load balancer in front of the latter two.
Under load it restarts each process, one after the other: no request may fail. Then it kills one process of posts and one of orders: no read
may fail, and at most the writes that were in flight. Finally (on Linux) the addresses behind the name of posts change.

  --per-second N  8 to ${perSecondMax.toLocaleString("en")}, ${perSecondDefault} by default; three of four requests are reads
  --logs FOLDER   writes the output of each process into this folder, one file each
  --control       kills each process instead of draining it: passes only if requests fail
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): RollingOptions | undefined {
  try {
    const text = { type: "string" } as const;
    const options = { "per-second": text, logs: text, control: { type: "boolean", default: false } } as const;
    const {
      "per-second": number = String(perSecondDefault),
      logs,
      control,
    } = parseArgs({ args: [...args], options }).values;
    const perSecond = /^\d{1,4}$/.test(number) ? Number(number) : Number.NaN;
    return perSecond >= 8 && perSecond <= perSecondMax ? { perSecond, control, logs } : undefined;
  } catch {
    return undefined;
  }
}
