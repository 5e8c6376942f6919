import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** Requests through both doors together. */
  readonly perSecond: number;
  /** Parts are killed where they would be drained, to see that what fails is found. */
  readonly control: boolean;
  /** Where what each process says is written, in a file of its own. */
  readonly logs: string | undefined;
}

const perSecondUsual = 40;
const perSecondMax = 1_000;

export const usage = `Usage: npm run verify:rolling -- [options]

Starts PostgreSQL and two processes of each service, of the gateway and of the REST proxy, with a plain balancer before the two doors.
Under load through both it restarts each process, one after the other: no request may fail. Then it kills one of posts and one of orders: no read
may fail, and of the writes at most those that were under way. At last (on Linux) the posts get other addresses behind their name.

  --per-second N  8 to ${perSecondMax.toLocaleString("en")}, ${perSecondUsual} by default; three in four read
  --logs FOLDER   keeps what each process logs, in a file of its own
  --control       kills each process instead of draining it: passes only when requests fail
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
  try {
    const text = { type: "string" } as const;
    const options = { "per-second": text, logs: text, control: { type: "boolean", default: false } } as const;
    const {
      "per-second": number = String(perSecondUsual),
      logs,
      control,
    } = parseArgs({ args: [...args], options }).values;
    const perSecond = /^\d{1,4}$/.test(number) ? Number(number) : Number.NaN;
    return perSecond >= 8 && perSecond <= perSecondMax ? { perSecond, control, logs } : undefined;
  } catch {
    return undefined;
  }
}
