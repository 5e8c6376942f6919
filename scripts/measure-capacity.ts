// `npm run measure:capacity`: what one replica of each part holds, and what a request costs; written into docs/capacity.md with --write.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readOptions, usage } from "./measure-capacity/options.ts";
import { describeAll, putBetweenMarkers } from "./measure-capacity/report.ts";
import { measureAll } from "./measure-capacity/run.ts";

const page = fileURLToPath(new URL("../docs/capacity.md", import.meta.url));
const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const text = describeAll(await measureAll(options, say), options);
  say(`\n${text}`);
  if (options.write) writeFileSync(page, putBetweenMarkers(readFileSync(page, "utf8"), text));
}
