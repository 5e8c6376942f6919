// `npm run verify:rolling`: restarts each process of the platform under load, one after the other. No request may fail. With
// `--control` processes are killed instead of drained, and the exit code is 0 only if requests fail.
import { readOptions, usage } from "./verify-rolling/options.ts";
import { report } from "./verify-rolling/report.ts";
import { runRolling } from "./verify-rolling/run.ts";

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = report(await runRolling(options, print), options, print) ? 0 : 1;
}
