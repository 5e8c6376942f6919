// `npm run verify:compose`: builds the images, starts docker-compose.yml, and restarts each container under load. No request may fail.
// With `--control` containers are killed instead of stopped, and the exit code is 0 only if requests fail. Without Docker or a base
// image it prints SKIPPED and exits with 0.
import { readOptions, usage } from "./verify-compose/options.ts";
import { findMissingRequirement } from "./verify-compose/requirements.ts";
import { report } from "./verify-compose/report.ts";
import { runCompose } from "./verify-compose/run.ts";

const print = (line: string) => void process.stdout.write(`${line}\n`);
const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const problem = await findMissingRequirement();
  if (problem !== undefined) print(`SKIPPED: nothing was verified, because ${problem}.`);
  else process.exitCode = report(await runCompose(options, print), options, print) ? 0 : 1;
}
