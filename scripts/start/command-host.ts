// The process of an external service under `npm start`: `node command-host.ts <program> <arguments>`. It ends with that program, and when the
// supervisor ends, as part-host.ts does.
import { spawn } from "node:child_process";
import { constants } from "node:os";

const [, , program = "", ...programArguments] = process.argv;

process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.channel?.unref();
const child = spawn(program, programArguments, { stdio: ["ignore", "inherit", "inherit"] });
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.once("error", (error) => {
  process.stderr.write(`${program} could not be started: ${error.message}\n`);
  process.exitCode = 1;
});
child.once("exit", (code, signal) => {
  // As in a shell: 128 plus the number of the signal.
  process.exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
});
