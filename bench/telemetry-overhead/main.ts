// npm run bench:watching: measures the CPU overhead of telemetry. ../README.md describes the method.
import { parseArgs } from "node:util";
import { cpuMicrosecondsPerRequest } from "../measure/proc.ts";
import { describeMachine } from "../report/machine.ts";
import { writeResults } from "../report/results-file.ts";
import { measurePair, type Pair, startPairTestbed } from "./measure-pair.ts";
import { type PairMeasurement, printOverheadReport, toCpuRatio } from "./overhead-report.ts";
import { subjects } from "./subjects.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc and pins with taskset.");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, only: { type: "string" } } });
const rounds = values.quick ? 1 : 5;
// Longer than in the other benchmarks, because the two processes of a pair share one core.
const times = values.quick ? { warmUpMs: 3_000, windowMs: 4_000 } : { warmUpMs: 10_000, windowMs: 10_000 };
/** Subjects that are also measured against themselves, which shows the accuracy of the ratios. */
const controls: ReadonlySet<string> = new Set(["gateway-small", "service"]);

const pairs = selectPairs(values.only);
const measurements: PairMeasurement[] = [];
const testbed = await startPairTestbed();
try {
  for (const pair of pairs) {
    for (let round = 1; round <= rounds; round += 1) await measureRound(pair, round);
  }
} finally {
  await testbed.stop();
}

const report = printOverheadReport(measurements);
console.log(`\n${report}`);
if (!values.quick && values.only === undefined) {
  const about = [
    `- ${new Date().toISOString().slice(0, 10)}, \`npm run bench:watching\``,
    `- ${rounds} rounds, each with ${times.warmUpMs / 1_000} s to warm up and ${times.windowMs / 1_000} s measured, both processes of a pair at the same time on one core; medians of the rounds`,
    ...describeMachine().map((line) => `- ${line}`),
  ];
  const intro = "Written by `npm run bench:watching`; README.md beside this file describes the method.";
  console.log(`\nWritten to ${writeResults("Telemetry overhead", [intro, about.join("\n"), report].join("\n\n"))}.`);
}

async function measureRound(pair: Pair, number: number): Promise<void> {
  const round = await measurePair(pair, testbed, { ...times, swapped: number % 2 === 0 });
  measurements.push({ pair, ...round });
  const baseline = cpuMicrosecondsPerRequest(round.baseline).toFixed(1);
  const compared = cpuMicrosecondsPerRequest(round.compared).toFixed(1);
  const { name } = pair.subject;
  console.log(
    `${name} ${pair.kind} #${number}: ${compared} µs CPU per request, baseline ${baseline} µs, ratio ${toCpuRatio(round).toFixed(2)}×`,
  );
}

/** Selects the subjects that `--only` names, such as `hit,service`. A partial run does not write RESULTS.md. */
function selectPairs(only: string | undefined): readonly Pair[] {
  const names = only?.split(",") ?? subjects.map(({ name }) => name);
  const unknown = names.filter((name) => !subjects.some((subject) => subject.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `--only: unknown name ${unknown.join(", ")}. Known names: ${subjects.map(({ name }) => name).join(", ")}.`,
    );
  }
  return subjects
    .filter(({ name }) => names.includes(name))
    .flatMap((subject): Pair[] => [
      { subject, kind: "telemetry" },
      ...(controls.has(subject.name) ? [{ subject, kind: "control" } as const] : []),
    ]);
}
