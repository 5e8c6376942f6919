// The entry of a part's process under `npm start`: `node part-host.ts <main.ts>`. It runs main.ts, and ends when the supervisor ends.
import { flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";

const [program = "", , entry = ""] = process.argv;
const flushDelayMs = 1_000;

// The supervisor was killed. The process kills its group, because SIGTERM is not enough: a part that logs to a closed pipe does not end.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.channel?.unref(); // The open channel must not keep the process alive.
process.argv = [program, entry];
await import(pathToFileURL(entry).href);
// Node writes the compile cache at exit: about a thousand small files, while Ctrl-C waits. So it is written early.
setTimeout(flushCompileCache, flushDelayMs).unref();
