// `npm run verify:cache`: runs the public HTTP cache tests against the shared cache of the REST proxy, which runs alone in front of the
// suite's origin.
import { knownFailures } from "./verify-cache/known-failures.ts";
import { readOptions, usage } from "./verify-cache/options.ts";
import { report, reportOne } from "./verify-cache/report.ts";
import { startCacheProcesses } from "./verify-cache/processes.ts";
import { installSuite, loadSuite } from "./verify-cache/suite.ts";

const options = readOptions(process.argv.slice(2));
const problem = options ? installSuite() : usage;
if (!options || problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
} else {
  const suite = await loadSuite();
  const processes = await startCacheProcesses();
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    const results = await suite.run(options.control ? processes.originUrl : processes.cacheUrl, options.only);
    const passed = options.only
      ? reportOne(results, options.only, print)
      : report(suite.tests, results, knownFailures, print);
    // The control bypasses the cache: it passes if the tests fail.
    process.exitCode = passed === options.control ? 1 : 0;
  } finally {
    await processes.stop();
  }
}
