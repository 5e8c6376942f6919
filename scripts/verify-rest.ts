// `npm run verify:rest`: concurrent writes and reads through one REST proxy. After the response to a write, no read may
// return older data. With `--control` writes bypass the proxy, and the exit code is 0 only if stale reads are found.
import { readOptions, usage } from "./verify-rest/options.ts";
import { report } from "./verify-rest/report.ts";
import { runTraffic } from "./verify-rest/run.ts";

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = report(await runTraffic(options, print), options, print) ? 0 : 1;
}
