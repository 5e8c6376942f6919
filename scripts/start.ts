// `npm start`, after bootstrap.mjs: runs the whole platform on this machine. start/command.ts handles signals and the exit code, start/run.ts has
// the steps and their order.
import { fileURLToPath } from "node:url";
import { DescriptorError } from "../supergraph/services.ts";

const { runStartCommand } = await import("./start/command.ts").catch(exitOnInvalidDescriptor);
await runStartCommand({
  root: fileURLToPath(new URL("..", import.meta.url)),
  args: process.argv.slice(2),
  environment: process.env,
  loadSeeding: () => import("./seed/seed.ts"),
});

/** Importing start/parts.ts reads the service.json of each service, so an invalid one rejects the import above. */
function exitOnInvalidDescriptor(error: unknown): never {
  if (!(error instanceof DescriptorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
