// `npm run verify:cache`: runs the public HTTP cache tests against the shared cache alone, and against the REST proxy with its own settings.
import { parseArgs } from "node:util";
import { knownFailuresOf } from "./verify-cache/known-failures.ts";
import { describeResult, findChanges, toTable } from "./verify-cache/outcomes.ts";
import { descriptions, startOrigin, startSubject, type Subject } from "./verify-cache/processes.ts";
import { installSuite, loadSuite, type Suite, type SuiteResults, type SuiteTest } from "./verify-cache/suite.ts";

const usage = `Usage: npm run verify:cache -- [options]

Runs the public HTTP cache tests (http-cache-tests, installed separately in tools/cache-suite) in front of the suite's origin: against the
shared cache of the REST proxy alone, and against the whole REST proxy with its production settings. Compares the failures of each with
scripts/verify-cache/known-failures.ts.

  --only ID   runs one test, and prints every request and response
  --control   runs the tests without a working cache: passes only if the tests find that nothing is cached
`;

interface Options {
  readonly control: boolean;
  readonly only: string | undefined;
}

const options = readOptions();
const problem = options ? installSuite() : usage;
if (!options || problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
} else {
  process.exitCode = (await runAll(options)) ? 0 : 1;
}

/** Returns whether both subjects passed; for a control, whether both failed. */
async function runAll(o: Options): Promise<boolean> {
  const suite = await loadSuite();
  const origin = await startOrigin(suite.origin);
  const cachePassed = await run("cache", suite, origin.url, o);
  const proxyPassed = await run("proxy", suite, origin.url, o);
  await origin.stop();
  return cachePassed !== o.control && proxyPassed !== o.control;
}

/** Returns whether the subject passed. */
async function run(subject: Subject, suite: Suite, origin: string, { control, only }: Options): Promise<boolean> {
  const server = await startSubject(subject, origin, control);
  print(`${control ? "Control, without a working cache. " : ""}${descriptions[subject]}`, "");
  try {
    const results = await suite.run({ cache: server.url, origin }, only);
    if (only === undefined) return report(subject, suite.tests, results);
    print(`${only}: ${describeResult(results[only])}`, "");
    return results[only] === true;
  } finally {
    await server.stop();
  }
}

/** Prints the counts, the known failures with their reasons, and the differences from them. Returns whether there are none. */
function report(subject: Subject, tests: readonly SuiteTest[], results: SuiteResults): boolean {
  const known = knownFailuresOf(subject);
  print(...toTable(tests, results), "");
  print(...known.map(({ ids, reason }) => `${String(ids.length).padStart(4)}  ${reason}`), "");
  const changes = findChanges(tests, results, known);
  print(...changes.map((change) => `FAIL  ${change}`));
  if (changes.length === 0) print("ok    only known failures fail, and all of them still fail");
  print("");
  return changes.length === 0;
}

/** Undefined for an invalid command line. */
function readOptions(): Options | undefined {
  try {
    const options = { only: { type: "string" }, control: { type: "boolean", default: false } } as const;
    const { only, control } = parseArgs({ options }).values;
    return only === "" ? undefined : { control, only };
  } catch {
    return undefined;
  }
}

function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
