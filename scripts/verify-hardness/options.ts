// The command line of `npm run verify:hardness`.
import { parseArgs } from "node:util";

export interface ResilienceOptions {
  /** Names of the checks to run; empty runs all. */
  readonly only: readonly string[];
  readonly list: boolean;
  /** Runs against an unmodified Apollo Gateway, to prove that the checks find its faults. */
  readonly control: boolean;
  /** How long `attacks` measures each of its attacks, after a warm-up. */
  readonly seconds: number;
  /** The number of clients that disconnect in `aborts`; it also limits its test with shared fetches. */
  readonly aborts: number;
  /** The number of successive supergraphs in `generations`. */
  readonly generations: number;
  /** The number of different introspection documents that `introspection` sends. */
  readonly documents: number;
  /** How long `memory` samples the memory of the gateway under load. */
  readonly minutes: number;
}

/** The inclusive range of each number, and its value without the option. */
const ranges = {
  seconds: { min: 1, max: 600, fallback: 30 },
  aborts: { min: 10, max: 100_000, fallback: 1_000 },
  generations: { min: 10, max: 100_000, fallback: 1_000 },
  documents: { min: 10, max: 100_000, fallback: 10_000 },
  minutes: { min: 1, max: 120, fallback: 30 },
} as const;

export const usage = `Usage: npm run verify:hardness -- [options]

Starts gateways with subgraphs that respond wrongly, slowly or not at all, with clients that attack or disconnect, with replicas that are
killed and with supergraphs that change, and measures the responses to all other clients.

  --list           prints the names of the checks
  --only NAME      runs only this check; may be repeated
  --control        tests an unmodified Apollo Gateway: succeeds only if each check that Apollo Gateway is expected to fail fails
  --seconds N      ${describeRange("seconds")}; how long each load is measured
  --aborts N       ${describeRange("aborts")}; number of clients that disconnect
  --generations N  ${describeRange("generations")}; number of successive supergraphs
  --documents N    ${describeRange("documents")}; number of different introspection documents
  --minutes N      ${describeRange("minutes")}; how long memory is measured
`;

/** @returns undefined for an invalid command line, such as a name that is not in `checkNames` or a number out of its range. */
export function readOptions(args: readonly string[], checkNames: readonly string[]): ResilienceOptions | undefined {
  const values = parseValues(args);
  if (!values) return undefined;
  const { only = [], list, control } = values;
  if (!only.every((name) => checkNames.includes(name))) return undefined;
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

/** @returns undefined for an unknown option, a missing value or an argument that is no option. */
function parseValues(args: readonly string[]) {
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

/** @returns undefined if the number is invalid or out of its range. */
function readNumber(name: keyof typeof ranges, text: string | undefined): number | undefined {
  const { min, max, fallback } = ranges[name];
  const value = text === undefined ? fallback : /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function describeRange(name: keyof typeof ranges): string {
  const { min, max, fallback } = ranges[name];
  const [from, to, byDefault] = [min, max, fallback].map((value) => value.toLocaleString("en"));
  return `${from} to ${to}, ${byDefault} by default`;
}
