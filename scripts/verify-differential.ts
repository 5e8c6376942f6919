// `npm run verify:differential`: sends generated operations through both paths of the gateway (fast path and full path). Both must return the
// data of one schema without subgraphs, errors for the same nulls, and the same bytes as each other. `--control` tests an unmodified Apollo
// Gateway instead: then the exit code is 0 only if differences are found.
import { readOptions, usage } from "./verify-differential/options.ts";
import { report } from "./verify-differential/report.ts";
import { runCases } from "./verify-differential/run.ts";

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = report(await runCases(options, print), options, print) ? 0 : 1;
}
