import { parseArgs } from "node:util";
import { type ContenderName, contenderNames } from "./contenders/contenders.ts";
import { type WorkloadName, workloadNames } from "./workloads/workloads.ts";

export interface BenchmarkArguments {
  readonly contenders: readonly ContenderName[];
  readonly workloads: readonly WorkloadName[];
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** The contender to profile instead of a comparison; undefined without `--profile`. */
  readonly profile: ContenderName | undefined;
  /** Whether RESULTS.md is written: a complete run, or `--write`, with at least 3 rounds and without `--quick`. */
  readonly writesResults: boolean;
}

export const usage = `npm run bench [-- options]
  --quick                one round, short measurements; for development
  --contenders a,b       of ${contenderNames.join(", ")}
  --only a,b             of the workloads ${workloadNames.join(", ")}
  --rounds n             measurements of each contender under each workload (default 3, quick 1)
  --seconds n            length of each measurement (default 5, quick 3)
  --profile contender    prints self times by package and function instead; with --workload (default heavy)
  --write                writes RESULTS.md after a partial run of at least three rounds
A complete run of at least three rounds always writes RESULTS.md.`;

const resultsRoundsMin = 3;

const options = {
  quick: { type: "boolean", default: false },
  contenders: { type: "string" },
  only: { type: "string" },
  rounds: { type: "string" },
  seconds: { type: "string" },
  profile: { type: "string" },
  workload: { type: "string" },
  write: { type: "boolean" },
} as const;

/** @throws Error with the invalid option and its valid values. */
export function parseArguments(words: readonly string[]): BenchmarkArguments {
  const { values } = parseArgs({ args: [...words], options });
  const { quick, profile } = values;
  const windowMs = readNumber("--seconds", values.seconds, quick ? 3 : 5) * 1_000;
  const rounds = readNumber("--rounds", values.rounds, quick ? 1 : 3);
  const isComplete = (values.contenders ?? values.only ?? values.workload ?? profile) === undefined;
  return {
    contenders: readNames("--contenders", values.contenders, contenderNames),
    workloads: readNames("--only", values.workload ?? values.only ?? (profile && "heavy"), workloadNames),
    rounds,
    warmUpMs: quick ? 2_500 : 4_000,
    windowMs,
    profile: readNames("--profile", profile ?? "", contenderNames)[0],
    writesResults: (isComplete || values.write === true) && !quick && rounds >= resultsRoundsMin,
  };
}

function readNames<Name extends string>(option: string, text: string | undefined, known: readonly Name[]) {
  if (text === undefined) return known;
  return text
    .split(",")
    .filter((word) => word !== "")
    .map((word) => {
      const name = known.find((candidate) => candidate === word);
      if (name === undefined) throw new Error(`${option}: unknown name "${word}". Known names: ${known.join(", ")}.`);
      return name;
    });
}

function readNumber(option: string, text: string | undefined, fallback: number): number {
  const number = Number(text ?? fallback);
  if (!(number >= 1 && number <= 600)) throw new Error(`${option} must be a number from 1 to 600, not "${text}".`);
  return Math.ceil(number);
}
