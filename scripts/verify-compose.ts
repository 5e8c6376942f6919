// `npm run verify:compose`: builds the images, brings docker-compose.yml up, and restarts each container under load; no request may fail.
import { readOptions, usage } from "./verify-compose/options.ts";
import { findObstacle } from "./verify-compose/obstacle.ts";
import { report } from "./verify-compose/report.ts";
import { runCompose } from "./verify-compose/run.ts";

const print = (line: string) => void process.stdout.write(`${line}\n`);
const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const obstacle = await findObstacle();
  if (obstacle !== undefined) print(`SKIPPED: nothing was verified, because ${obstacle}.`);
  else process.exitCode = report(await runCompose(options, print), options, print) ? 0 : 1;
}
