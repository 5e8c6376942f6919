// `npm run verify:alerts`: injects real faults into a running platform, and checks the alerts that Prometheus and Alertmanager raise by the
// repository's rules.
import { readOptions, usage } from "./verify-alerts/options.ts";
import { findPrograms } from "./verify-alerts/programs.ts";
import { report } from "./verify-alerts/report.ts";
import { runAlerts } from "./verify-alerts/run.ts";

const options = readOptions(process.argv.slice(2));
const print = (line: string) => void process.stdout.write(`${line}\n`);
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const programs = findPrograms(options.programs, print);
  if (typeof programs === "string") {
    print(`Prometheus and Alertmanager are not installed, no alert was verified: ${programs}`);
    process.exitCode = 2;
  } else process.exitCode = report(await runAlerts(options, programs, print), options, print) ? 0 : 1;
}
