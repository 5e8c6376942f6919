// `npm run measure:capacity`: measures the request rate that one replica of each process sustains, and the CPU time of a request. With
// --write the tables in docs/capacity.md are replaced.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readOptions, usage } from "./measure-capacity/options.ts";
import { formatTables, putBetweenMarkers } from "./measure-capacity/report.ts";
import { measureAll } from "./measure-capacity/run.ts";

const page = fileURLToPath(new URL("../docs/capacity.md", import.meta.url));
const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const text = formatTables(await measureAll(options, print), options);
  print(`\n${text}`);
  if (options.write) writeFileSync(page, putBetweenMarkers(readFileSync(page, "utf8"), text));
}
