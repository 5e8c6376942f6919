// `npm run verify:durability`: kills the orders service and PostgreSQL under load. Every confirmed order must be stored exactly once. With
// `--control` PostgreSQL runs with synchronous_commit = off, and the exit code is 0 only if confirmed orders are lost and the remaining
// data is consistent.
import { readOptions, usage } from "./verify-durability/options.ts";
import { report } from "./verify-durability/report.ts";
import { runRounds } from "./verify-durability/run.ts";

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = report(await runRounds(options, print), options, print) ? 0 : 1;
}
