// The command line of the three benchmarks, with its usage text. main.ts parses it at start.
import { parseArgs } from "node:util";
import type { Benchmark, Contender, Workload } from "./benchmark.ts";
import { pairWithCheckout } from "./contenders/checkout.ts";

export interface BenchmarkArguments {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** Whether the selected contenders are profiled instead of compared. */
  readonly profiles: boolean;
  /** Whether RESULTS.md is written. `if complete`: only if no contender fails or is skipped because its requirement is missing. */
  readonly writesResults: "never" | "if complete" | "always";
}

const resultsRoundsMin = 3;
const quick = { rounds: 1, warmUpMs: 2_500, windowMs: 3_000 };

const options = {
  help: { type: "boolean" },
  quick: { type: "boolean", default: false },
  contenders: { type: "string" },
  only: { type: "string" },
  rounds: { type: "string" },
  seconds: { type: "string" },
  profile: { type: "string" },
  against: { type: "string" },
  write: { type: "boolean", default: false },
} as const;

export function toUsage({ script, contenders, workloads, rounds, windowMs }: Benchmark): string {
  return `npm run ${script} [-- options]
  --quick                one round, short measurements; for development
  --contenders a,b       of ${listNames(contenders)}
  --only a,b             of the workloads ${listNames(workloads)}
  --rounds n             measurements of each contender under each workload (default ${rounds}, quick ${quick.rounds})
  --seconds n            length of each measurement (default ${windowMs / 1_000}, quick ${quick.windowMs / 1_000})
  --profile contender    prints self times by package and function instead (default workload: the contender's first)
  --against folder       pairs each Tributary contender with itself in another checkout, whose packages are installed
  --write                writes RESULTS.md after a partial run, or one with failures
A complete run writes RESULTS.md; one with less than ${resultsRoundsMin} rounds or shorter measurements than the default never does.`;
}

/**
 * Returns undefined for `--help`.
 * @throws Error with the invalid option and its valid values.
 */
export function parseArguments(words: readonly string[], benchmark: Benchmark): BenchmarkArguments | undefined {
  const { values } = parseArgs({ args: [...words], options });
  if (values.help) return undefined;
  const { profile } = values;
  const defaults = values.quick ? quick : benchmark;
  const rounds = readNumber("--rounds", values.rounds, defaults.rounds);
  const windowMs = readNumber("--seconds", values.seconds, defaults.windowMs / 1_000) * 1_000;
  const named = select("--contenders", profile ?? values.contenders, benchmark.contenders);
  const contenders = values.against === undefined ? named : pairWithCheckout(named, values.against);
  const selected = select("--only", values.only, benchmark.workloads);
  const workloads = selected.filter((workload) => contenders.some((contender) => takesPart(contender, workload)));
  if (workloads.length === 0) throw new Error("No selected contender takes part in a selected workload.");
  const selectsAll = values.contenders === undefined && values.only === undefined;
  const isForDevelopment = values.quick || profile !== undefined || values.against !== undefined;
  const isLong = rounds >= resultsRoundsMin && windowMs >= benchmark.windowMs;
  return {
    contenders,
    workloads: profile !== undefined && values.only === undefined ? workloads.slice(0, 1) : workloads,
    rounds,
    warmUpMs: defaults.warmUpMs,
    windowMs,
    profiles: profile !== undefined,
    writesResults:
      !isLong || isForDevelopment ? "never" : values.write ? "always" : selectsAll ? "if complete" : "never",
  };
}

export function takesPart(contender: Contender, workload: Workload): boolean {
  return contender.workloads?.includes(workload.name) ?? !workload.isSpecial;
}

/** Selects items by comma-separated names; all if `names` is undefined. */
function select<T extends { readonly name: string }>(option: string, names: string | undefined, known: readonly T[]) {
  if (names === undefined) return known;
  const words = names.split(",");
  const unknown = words.find((word) => !known.some(({ name }) => name === word));
  if (unknown !== undefined) throw new Error(`${option}: unknown name "${unknown}". Known names: ${listNames(known)}.`);
  return known.filter(({ name }) => words.includes(name));
}

function readNumber(option: string, text: string | undefined, fallback: number): number {
  const number = Number(text ?? fallback);
  if (!(number >= 1 && number <= 600)) throw new Error(`${option} must be a number from 1 to 600, not "${text}".`);
  return Math.ceil(number);
}

function listNames(items: readonly { readonly name: string }[]): string {
  return items.map(({ name }) => name).join(", ");
}
