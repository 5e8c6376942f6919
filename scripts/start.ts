// `npm start`: the whole platform on this machine. What it does, in which order, stands in start/run.ts.
import { fileURLToPath } from "node:url";
import { runCommand } from "./start/command.ts";

await runCommand({
  root: fileURLToPath(new URL("..", import.meta.url)),
  args: process.argv.slice(2),
  environment: process.env,
  loadSeeding: () => import("./seed/seed.ts"),
});
