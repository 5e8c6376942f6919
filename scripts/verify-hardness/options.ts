import { parseArgs } from "node:util";

export interface VerifyOptions {
  /** Names of checks; all when empty. */
  readonly only: readonly string[];
  readonly list: boolean;
  /** Run against Apollo Gateway as it comes, to see that the checks find what is wrong with it. */
  readonly control: boolean;
  /** How long each load is measured, after a ramp. */
  readonly seconds: number;
  readonly aborts: number;
  readonly generations: number;
  readonly documents: number;
  readonly minutes: number;
}

const ranges = {
  seconds: [1, 600, 30],
  aborts: [10, 100_000, 1_000],
  generations: [10, 100_000, 1_000],
  documents: [10, 100_000, 10_000],
  minutes: [1, 120, 30],
} as const;

export const usage = `Usage: npm run verify:hardness -- [options]

Starts gateways of its own, with subgraphs that answer wrongly, slowly or not at all, clients that attack and go away, replicas that
are killed and supergraphs that keep changing; and measures what everybody else gets.

  --list           the names of the checks
  --only NAME      only this check; more than once for more of them
  --control        against Apollo Gateway as it comes: passes only when each check finds something wrong with it
  --seconds N      ${describe("seconds")}; how long each load is measured
  --aborts N       ${describe("aborts")}; clients that go away
  --generations N  ${describe("generations")}; supergraphs one after the other
  --documents N    ${describe("documents")}; introspection documents, each a new one
  --minutes N      ${describe("minutes")}; how long memory is watched
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[], names: readonly string[]): VerifyOptions | undefined {
  const values = parse(args);
  if (!values) return undefined;
  const { only = [], list, control } = values;
  if (!only.every((name) => names.includes(name))) return undefined;
  const [seconds, aborts, generations, documents, minutes] = [
    readNumber("seconds", values.seconds),
    readNumber("aborts", values.aborts),
    readNumber("generations", values.generations),
    readNumber("documents", values.documents),
    readNumber("minutes", values.minutes),
  ];
  if (seconds === undefined || aborts === undefined || generations === undefined) return undefined;
  if (documents === undefined || minutes === undefined) return undefined;
  return { only, list, control, seconds, aborts, generations, documents, minutes };
}

function parse(args: readonly string[]) {
  const number = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const only = { type: "string", multiple: true } as const;
  const numbers = { seconds: number, aborts: number, generations: number, documents: number, minutes: number };
  const options = { only, list: flag, control: flag, ...numbers } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch {
    return undefined;
  }
}

function readNumber(name: keyof typeof ranges, text: string | undefined): number | undefined {
  const [min, max, usual] = ranges[name];
  const value = text === undefined ? usual : /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function describe(name: keyof typeof ranges): string {
  const [min, max, usual] = ranges[name].map((count) => count.toLocaleString("en"));
  return `${min} to ${max}, ${usual} by default`;
}
