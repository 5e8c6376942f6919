// `npm run verify:hardness`: tests the gateway's hardness, that is its resilience against wrong subgraphs and hostile clients; also against clients
// that disconnect, killed replicas and frequent supergraph changes. The subgraphs are those of the gateway's tests (gateway/test/helpers), not the
// four services. `--control` tests an unmodified Apollo Gateway instead: then the exit code is 0 only if each check with `apolloFails` fails. A check
// that throws has failed in both modes, with exit code 1.
import { abortsCheck } from "./verify-hardness/aborts.ts";
import { attacksCheck } from "./verify-hardness/attacks.ts";
import type { ResilienceCheck } from "./verify-hardness/check.ts";
import { pinOwnProcess } from "./verify-hardness/cores.ts";
import { generationsCheck } from "./verify-hardness/generations.ts";
import { introspectionCheck } from "./verify-hardness/introspection.ts";
import { memoryCheck } from "./verify-hardness/memory.ts";
import { readOptions, usage } from "./verify-hardness/options.ts";
import { plannerCheck } from "./verify-hardness/planner.ts";
import { replicasCheck } from "./verify-hardness/platform/replicas.ts";
import { type CheckOutcome, reportAll } from "./verify-hardness/report.ts";
import { runCheck } from "./verify-hardness/run.ts";
import { swapsCheck } from "./verify-hardness/swaps.ts";
import { wrongResponsesCheck } from "./verify-hardness/wrong-responses.ts";

/** In the order in which they run. */
const checks: readonly ResilienceCheck[] = [
  wrongResponsesCheck,
  attacksCheck,
  plannerCheck,
  abortsCheck,
  replicasCheck,
  swapsCheck,
  generationsCheck,
  introspectionCheck,
  memoryCheck,
];

const print = (line: string) => void process.stdout.write(`${line}\n`);
const names = checks.map(({ name }) => name);
const options = readOptions(process.argv.slice(2), names);
if (options === undefined) {
  process.stderr.write(`${usage}\nChecks: ${names.join(", ")}\n`);
  process.exitCode = 2;
} else if (options.list) {
  for (const { name, purpose } of checks) print(`${name.padEnd(12)} ${purpose}`);
} else {
  const cores = pinOwnProcess();
  print(`${options.control ? "an unmodified Apollo Gateway" : "the gateway"}; ${cores.description}\n`);
  const outcomes: CheckOutcome[] = [];
  for (const check of checks) {
    if (options.only.length > 0 && !options.only.includes(check.name)) continue;
    outcomes.push(await runCheck(check, { options, cores, print }));
  }
  process.exitCode = reportAll(outcomes, options.control, print) ? 0 : 1;
}
