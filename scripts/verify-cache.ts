// `npm run verify:cache`: holds the shared cache, alone in front of the suite's own origin, against the public tests of HTTP caches.
import { knownFailures } from "./verify-cache/known-failures.ts";
import { readOptions, usage } from "./verify-cache/options.ts";
import { report, reportOne } from "./verify-cache/report.ts";
import { startStage } from "./verify-cache/stage.ts";
import { installSuite, loadSuite } from "./verify-cache/suite.ts";

const options = readOptions(process.argv.slice(2));
const refusal = options ? installSuite() : usage;
if (!options || refusal !== undefined) {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 2;
} else {
  const suite = await loadSuite();
  const stage = await startStage();
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    const results = await suite.run(options.control ? stage.originUrl : stage.cacheUrl, options.only);
    const isGood = options.only
      ? reportOne(results, options.only, print)
      : report(suite.tests, results, knownFailures, print);
    // The control goes past the cache: it is good when that is found.
    process.exitCode = isGood === options.control ? 1 : 0;
  } finally {
    await stage.stop();
  }
}
