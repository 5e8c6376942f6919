// `npm run verify:durability`: kills the orders service and PostgreSQL under load; what was confirmed must be there, once.
import { readOptions, usage } from "./verify-durability/options.ts";
import { report } from "./verify-durability/report.ts";
import { runRounds } from "./verify-durability/run.ts";

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = report(await runRounds(options, say), options, say) ? 0 : 1;
}
