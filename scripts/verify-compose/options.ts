import { parseArgs } from "node:util";

export interface ComposeCheckOptions {
  /** The request rate through gateway and REST proxy together. */
  readonly perSecond: number;
  /** Containers are killed instead of stopped, to prove that failed requests are found. */
  readonly control: boolean;
}

const perSecondDefault = 16;
const perSecondMax = 1_000;

export const usage = `Usage: npm run verify:compose -- [options]

Builds the images and starts docker-compose.yml in a separate project, which is removed at the end. Sends each request of the journey
through the published gateway and REST proxy, starts two replicas of each part and three of posts, prints each replica's share of the
traffic, and restarts each container under load, one after the other: no request may fail. Then it kills one container, freezes the process
of another (SIGSTOP), which must be restarted and ready within 75 s, and removes one replica of posts. Needs Docker; without it the check is
skipped.

  --per-second N  8 to ${perSecondMax.toLocaleString("en")}, ${perSecondDefault} by default; three of four requests are reads
  --control       kills each container instead of stopping it: passes only if requests fail
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): ComposeCheckOptions | undefined {
  try {
    const options = { "per-second": { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { "per-second": number = String(perSecondDefault), control } = parseArgs({ args: [...args], options }).values;
    const perSecond = /^\d{1,4}$/.test(number) ? Number(number) : Number.NaN;
    return perSecond >= 8 && perSecond <= perSecondMax ? { perSecond, control } : undefined;
  } catch {
    return undefined;
  }
}
