// `npm run clients`: the clients of clients/, and whether their operations are valid; `npm run clients -- bundle`: their documents for the gateway
// (supergraph/clients).
import { fileURLToPath } from "node:url";
import { runBundle, runClients } from "../supergraph/clients/clients-command.ts";

const isBundle = process.argv[2] === "bundle";
const run = isBundle ? runBundle : runClients;
process.exitCode = run({
  root: fileURLToPath(new URL("..", import.meta.url)),
  today: new Date().toISOString().slice(0, 10),
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
});
