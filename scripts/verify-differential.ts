// `npm run verify:differential`: generated operations through both lanes of the gateway, held against one schema without subgraphs.
import { readOptions, usage } from "./verify-differential/options.ts";
import { report } from "./verify-differential/report.ts";
import { runAnimals } from "./verify-differential/run.ts";

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  process.exitCode = report(await runAnimals(options, say), options, say) ? 0 : 1;
}
