// `npm run check`: composes the schemas, and compares them and the routes with main (supergraph/check.ts). Exit code 1 for errors and for
// changes that break clients.
import { fileURLToPath } from "node:url";
import { runCheck } from "../supergraph/check.ts";
import { createOperationPlanner } from "./check/operation-planner.ts";

process.exitCode = await runCheck({
  root: fileURLToPath(new URL("..", import.meta.url)),
  args: process.argv.slice(2),
  createPlanner: createOperationPlanner,
  today: new Date().toISOString().slice(0, 10),
  print: (text) => process.stdout.write(text),
});
