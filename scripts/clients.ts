// `npm run clients`: the clients of clients/, and whether their operations are valid; `npm run clients -- bundle`: their documents for the gateway
// (supergraph/clients).
import { fileURLToPath } from "node:url";
import { runBundle, runClients } from "../supergraph/clients/clients-command.ts";

const [command, ...others] = process.argv.slice(2);
if ((command !== undefined && command !== "bundle") || others.length > 0) {
  console.error("Usage: npm run clients [-- bundle]");
  process.exit(2);
}
const run = command === "bundle" ? runBundle : runClients;
process.exitCode = run({
  root: fileURLToPath(new URL("..", import.meta.url)),
  today: new Date().toISOString().slice(0, 10),
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
});
