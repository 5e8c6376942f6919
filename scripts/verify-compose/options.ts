import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** Requests through both doors together. */
  readonly perSecond: number;
  /** Containers are killed where they would be stopped, to see that what fails is found. */
  readonly control: boolean;
}

const perSecondUsual = 16;
const perSecondMax = 1_000;

export const usage = `Usage: npm run verify:compose -- [options]

Builds the images and brings docker-compose.yml up, in a project of its own that is removed at the end. Takes the journey through both
published doors, runs two replicas of each part and three of posts, shows each one's share, and under load restarts each container, one
after the other: no request may fail. Then it kills one, freezes the process of another (SIGSTOP), which has to be restarted and ready within
75 s, and takes one of posts away. Needs Docker; says so where there is none.

  --per-second N  8 to ${perSecondMax.toLocaleString("en")}, ${perSecondUsual} by default; three in four read
  --control       kills each container instead of stopping it: passes only when requests fail
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
  try {
    const options = { "per-second": { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { "per-second": number = String(perSecondUsual), control } = parseArgs({ args: [...args], options }).values;
    const perSecond = /^\d{1,4}$/.test(number) ? Number(number) : Number.NaN;
    return perSecond >= 8 && perSecond <= perSecondMax ? { perSecond, control } : undefined;
  } catch {
    return undefined;
  }
}
