// npm run bench:watching: see ../README.md.
import { parseArgs } from "node:util";
import { describeMachine } from "../report/machine.ts";
import { writeResults } from "../report/results-file.ts";
import { measurePair, type Pair, startWatchingSide } from "./measure-pair.ts";
import { cpuMicroseconds, type MeasuredPair, printWatching, ratioOf } from "./report-watching.ts";
import { subjects } from "./subjects.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc and pins with taskset.");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, only: { type: "string" } } });
const rounds = values.quick ? 1 : 5;
// Both share a core, so each works for half of it.
const times = values.quick ? { warmUpMs: 3_000, windowMs: 4_000 } : { warmUpMs: 10_000, windowMs: 10_000 };
/** What two processes that are the same differ by. */
const controls: ReadonlySet<string> = new Set(["gateway-small", "service"]);

const pairs = choosePairs(values.only);
const measured: MeasuredPair[] = [];
const side = await startWatchingSide();
try {
  for (const pair of pairs) {
    for (let round = 1; round <= rounds; round += 1) await measureRound(pair, round);
  }
} finally {
  await side.stop();
}

const report = printWatching(measured);
console.log(`\n${report}`);
if (!values.quick && values.only === undefined) {
  const about = [
    `- ${new Date().toISOString().slice(0, 10)}, \`npm run bench:watching\``,
    `- ${rounds} rounds, each with ${times.warmUpMs / 1_000} s to warm up and ${times.windowMs / 1_000} s measured, both at once on one core; medians of the rounds`,
    ...describeMachine().map((line) => `- ${line}`),
  ];
  const intro = "Written by `npm run bench:watching`; how it measures is in README.md beside this file.";
  console.log(`\nWritten to ${writeResults("What watching costs", [intro, about.join("\n"), report].join("\n\n"))}.`);
}

async function measureRound(pair: Pair, round: number): Promise<void> {
  const both = await measurePair(pair, side, { ...times, swapped: round % 2 === 0 });
  measured.push({ pair, ...both });
  const [plain, second] = [both.plain, both.second].map((one) => cpuMicroseconds(one).toFixed(1));
  const { name } = pair.subject;
  console.log(`${name} ${pair.second} #${round}: ${second} beside ${plain} µs, ${ratioOf(both).toFixed(2)}×`);
}

/** Those that `--only` names, such as `hit,service`; nothing is written to the results then. */
function choosePairs(only: string | undefined): readonly Pair[] {
  const names = only?.split(",") ?? subjects.map(({ name }) => name);
  const unknown = names.filter((name) => !subjects.some((subject) => subject.name === name));
  if (unknown.length > 0) {
    throw new Error(`There is no ${unknown.join(", ")}, but ${subjects.map(({ name }) => name).join(", ")}.`);
  }
  return subjects
    .filter(({ name }) => names.includes(name))
    .flatMap((subject): Pair[] => [
      { subject, second: "observed" },
      ...(controls.has(subject.name) ? [{ subject, second: "the same" } as const] : []),
    ]);
}
