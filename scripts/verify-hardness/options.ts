import { parseArgs } from "node:util";

export interface ResilienceOptions {
  /** Names of the checks to run; empty runs all. */
  readonly only: readonly string[];
  readonly list: boolean;
  /** Runs against an unmodified Apollo Gateway, to prove that the checks find its faults. */
  readonly control: boolean;
  /** How long each load is measured, after a warm-up. This and the numbers below are used by single checks; the usage has their ranges. */
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

Starts gateways with subgraphs that respond wrongly, slowly or not at all, with clients that attack or disconnect, with replicas that are
killed and with supergraphs that change, and measures the responses to all other clients.

  --list           prints the names of the checks
  --only NAME      runs only this check; may be repeated
  --control        tests an unmodified Apollo Gateway: passes only if each check that it cannot pass finds a fault
  --seconds N      ${describe("seconds")}; how long each load is measured
  --aborts N       ${describe("aborts")}; number of clients that disconnect
  --generations N  ${describe("generations")}; number of successive supergraphs
  --documents N    ${describe("documents")}; number of different introspection documents
  --minutes N      ${describe("minutes")}; how long memory is measured
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[], names: readonly string[]): ResilienceOptions | undefined {
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
  const [min, max, defaultValue] = ranges[name];
  const value = text === undefined ? defaultValue : /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function describe(name: keyof typeof ranges): string {
  const [min, max, usual] = ranges[name].map((count) => count.toLocaleString("en"));
  return `${min} to ${max}, ${usual} by default`;
}
