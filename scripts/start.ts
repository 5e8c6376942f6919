// `npm start`, after bootstrap.mjs: runs the whole platform on this machine. start/command.ts handles signals and the exit code, start/run.ts has
// the steps and their order.
import { fileURLToPath } from "node:url";
import { runStartCommand } from "./start/command.ts";

await runStartCommand({
  root: fileURLToPath(new URL("..", import.meta.url)),
  args: process.argv.slice(2),
  environment: process.env,
  loadSeeding: () => import("./seed/seed.ts"),
});
