// `npm run clients`: the clients of clients/, and whether their operations are valid (supergraph/clients).
import { fileURLToPath } from "node:url";
import { runClients } from "../supergraph/clients/clients-command.ts";

process.exitCode = runClients({
  root: fileURLToPath(new URL("..", import.meta.url)),
  today: new Date().toISOString().slice(0, 10),
  print: (text) => process.stdout.write(text),
});
