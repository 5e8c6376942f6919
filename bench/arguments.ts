// The command line of the three benchmarks, with its usage text. main.ts parses it at start.
import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmarks/benchmark.ts";
import { pairWithCheckout } from "./contenders/checkout.ts";
import type { Contender } from "./contenders/contender.ts";
import type { Workload } from "./workloads/workload.ts";

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

/** RESULTS.md needs at least this many rounds. */
const resultsRoundsMin = 3;
/** The defaults with `--quick`. */
const quick = { rounds: 1, warmUpMs: 2_500, windowMs: 3_000 };
/** Of rounds, and of seconds. */
const numberMax = 600;

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
  const profiles = values.profile !== undefined;
  const defaults = values.quick ? quick : benchmark;
  const rounds = readNumber("--rounds", values.rounds, defaults.rounds);
  const windowMs = readNumber("--seconds", values.seconds, defaults.windowMs / 1_000) * 1_000;

  const selectedContenders = profiles
    ? select("--profile", values.profile, benchmark.contenders)
    : select("--contenders", values.contenders, benchmark.contenders);
  const contenders =
    values.against === undefined ? selectedContenders : pairWithCheckout(selectedContenders, values.against);

  const selectedWorkloads = select("--only", values.only, benchmark.workloads);
  const workloads = selectedWorkloads.filter((workload) =>
    contenders.some((contender) => takesPart(contender, workload)),
  );
  if (workloads.length === 0) throw new Error("No selected contender takes part in a selected workload.");
  const profilesFirstWorkload = profiles && values.only === undefined;

  const isForDevelopment = values.quick || profiles || values.against !== undefined;
  const isLongEnough = rounds >= resultsRoundsMin && windowMs >= benchmark.windowMs;
  return {
    contenders,
    workloads: profilesFirstWorkload ? workloads.slice(0, 1) : workloads,
    rounds,
    warmUpMs: defaults.warmUpMs,
    windowMs,
    profiles,
    writesResults: decideWritesResults({
      mayWrite: isLongEnough && !isForDevelopment,
      isForced: values.write,
      selectsAll: values.contenders === undefined && values.only === undefined,
    }),
  };
}

interface WritingConditions {
  readonly mayWrite: boolean;
  /** Whether `--write` is set. */
  readonly isForced: boolean;
  /** Whether all contenders and all workloads are selected. */
  readonly selectsAll: boolean;
}

function decideWritesResults(conditions: WritingConditions): BenchmarkArguments["writesResults"] {
  if (!conditions.mayWrite) return "never";
  if (conditions.isForced) return "always";
  return conditions.selectsAll ? "if complete" : "never";
}

export function takesPart(contender: Contender, workload: Workload): boolean {
  if (contender.workloads) return contender.workloads.includes(workload.name);
  return !workload.isOptIn;
}

/** Selects items by comma-separated names; all if `names` is undefined. */
function select<T extends { readonly name: string }>(option: string, names: string | undefined, items: readonly T[]) {
  if (names === undefined) return items;
  const selectedNames = names.split(",");
  const knownNames = new Set(items.map(({ name }) => name));
  const unknownName = selectedNames.find((name) => !knownNames.has(name));
  if (unknownName !== undefined) {
    throw new Error(`${option}: unknown name "${unknownName}". Known names: ${listNames(items)}.`);
  }
  return items.filter(({ name }) => selectedNames.includes(name));
}

/** The number of an option, rounded up. */
function readNumber(option: string, text: string | undefined, fallback: number): number {
  const number = Number(text ?? fallback);
  const isValid = number >= 1 && number <= numberMax; // False for NaN.
  if (!isValid) throw new Error(`${option} must be a number from 1 to ${numberMax}, not "${text}".`);
  return Math.ceil(number);
}

function listNames(items: readonly { readonly name: string }[]): string {
  return items.map(({ name }) => name).join(", ");
}
