import { fileURLToPath } from "node:url";
import { runCheck } from "../supergraph/check.ts";

process.exitCode = await runCheck({
  root: fileURLToPath(new URL("..", import.meta.url)),
  args: process.argv.slice(2),
  write: (text) => process.stdout.write(text),
});
