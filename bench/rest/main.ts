// npm run bench:rest: measures the REST proxy beside others. ../README.md describes the method.
import { parseArgs } from "node:util";
import { installPeers } from "../contenders/peers.ts";
import { cpuMicrosecondsPerRequest } from "../measure/proc.ts";
import { describeMachine } from "../report/machine.ts";
import { writeResults } from "../report/results-file.ts";
import { type RestContender, restContenders } from "./rest-contenders.ts";
import { measureRest, startRestTestbed } from "./measure-rest.ts";
import { installNginx, readNginxVersion } from "./nginx.ts";
import { printRestReport, type RestMeasurement } from "./rest-report.ts";
import { type RestWorkload, restWorkloads } from "./rest-workloads.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc and pins with taskset.");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, only: { type: "string" } } });
const workloads = selectWorkloads(values.only);
const rounds = values.quick ? 1 : 5;
const times = values.quick ? { warmUpMs: 1_500, windowMs: 2_000 } : { warmUpMs: 5_000, windowMs: 5_000 };

const problems = { nginx: installNginx(), peers: installPeers(), nothing: undefined };
const skipped = restContenders.flatMap(({ title, requires }) => {
  const problem = problems[requires];
  return problem === undefined ? [] : [`${title}, because ${problem}.`];
});
for (const line of skipped) console.log(`Skipped: ${line}`);

const measurements: RestMeasurement[] = [];
const testbed = await startRestTestbed();
try {
  for (const workload of workloads) {
    for (let round = 1; round <= rounds; round += 1) await measureRound(workload, round);
  }
} finally {
  await testbed.stop();
}

const report = printRestReport(measurements);
console.log(`\n${report}`);
if (!values.quick && workloads === restWorkloads) {
  const about = [
    `- ${new Date().toISOString().slice(0, 10)}, \`npm run bench:rest\``,
    `- ${rounds} rounds, each with ${times.warmUpMs / 1_000} s to warm up and ${times.windowMs / 1_000} s measured, medians of the rounds`,
    ...describeMachine().map((line) => `- ${line}`),
    `- nginx ${readNginxVersion() ?? "not installed"}`,
    ...skipped.map((line) => `- **Skipped:** ${line}`),
  ];
  const intro = "Written by `npm run bench:rest`; README.md beside this file describes the method.";
  console.log(`\nWritten to ${writeResults("REST proxy", [intro, about.join("\n"), report].join("\n\n"))}.`);
}

async function measureRound(workload: RestWorkload, round: number): Promise<void> {
  for (const contender of restContenders) {
    if (!isInstalled(contender.requires) || !contender.workloads.includes(workload.name)) continue;
    const report = await measureRest(contender, workload, testbed, times);
    measurements.push({ contender: contender.name, workload: workload.name, report });
    console.log(
      `${workload.name} ${contender.name} #${round}: ${cpuMicrosecondsPerRequest(report).toFixed(1)} µs CPU per request`,
    );
  }
}

function isInstalled(requires: RestContender["requires"]): boolean {
  return problems[requires] === undefined;
}

/** Selects the workloads that `--only` names, such as `hit,pass`. A partial run does not write RESULTS.md. */
function selectWorkloads(only: string | undefined): readonly RestWorkload[] {
  if (only === undefined) return restWorkloads;
  const names = only.split(",");
  const unknown = names.filter((name) => !restWorkloads.some((workload) => workload.name === name));
  if (unknown.length === 0) return restWorkloads.filter(({ name }) => names.includes(name));
  const known = restWorkloads.map(({ name }) => name).join(", ");
  throw new Error(`--only: unknown name ${unknown.join(", ")}. Known names: ${known}.`);
}
