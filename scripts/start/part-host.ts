// The entry of a part's process under `npm start`: `node part-host.ts <main.ts>`. It runs main.ts, and ends when the supervisor ends.
import { flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";

const [program = "", , entry = ""] = process.argv;
const flushDelayMs = 1_000;

// The supervisor was killed. SIGTERM would not be enough, because a part that logs to a closed pipe does not end; so this kills the group.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
process.channel?.unref(); // The open channel must not keep the process alive.
process.argv = [program, entry]; // As if main.ts had been started without this file.
await import(pathToFileURL(entry).href);
// By default Node writes the compile cache at exit: about a thousand small files, which would delay Ctrl-C. This writes it early.
setTimeout(flushCompileCache, flushDelayMs).unref();
