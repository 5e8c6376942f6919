// Runs during an image build, with the user and the Node flags that the image's process will have. Starts that process once, to fill
// NODE_COMPILE_CACHE with V8's compiled code and to check that the process can load all its modules. As soon as the process listens, it is stopped.
// A service never listens here, because there is no database: it loads its modules, cannot connect, and exits.
//
//   node --v8-pool-size=1 infra/images/compile.ts gateway/src/main.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startAdminServer } from "@tributary/kit/telemetry/admin-server";

/** The child process is killed after this time. */
const startMsMax = 60_000;
/** Begins the message of the SERVICE_UNAVAILABLE error in kit/src/postgres/postgres.ts. */
const databaseUnreachableMessage = "The database is not reachable";
/** In the log line of every listener: the one for requests, and the one for metrics. */
const listenerUrl = /"url":"http:[^"]+"/;
/** In the log line of the listener for metrics only. */
const metricsListenerMessage = '"msg":"metrics listening"';
/** One environment for all processes: each ignores the variables of others. */
const environment = {
  ...process.env,
  // Any free port.
  PORT: "0",
  // Required by a service.
  DATABASE_URL: "postgres://user@127.0.0.1:1/database",
  // Required by the purger.
  PURGE_URL: "http://127.0.0.1:1/",
  // With ADMIN_PORT a process loads its metrics listener, with the OTLP endpoint its export of traces.
  ADMIN_PORT: "0",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
};

const nodeFlags = process.execArgv;
const mainFileAndArguments = process.argv.slice(2);
const child = spawn(process.execPath, [...nodeFlags, ...mainFileAndArguments], {
  env: environment,
  stdio: ["ignore", "pipe", "pipe"],
});
const timeout = setTimeout(() => child.kill("SIGKILL"), startMsMax);
let output = "";
let isStopping = false;
for (const stream of [child.stdout, child.stderr]) {
  stream.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    // One signal only: at a second one the process exits immediately, without writing its compiled code.
    if (isStopping) return;
    if (isListening(output)) {
      isStopping = true;
      child.kill("SIGTERM");
    }
  });
}
await once(child, "close");
clearTimeout(timeout);
const hasLoadedModules = isListening(output) || output.includes(databaseUnreachableMessage);
if (!hasLoadedModules) throw new Error(`The process does not start:\n${output}`);

// A service without a database exits before it starts the thread of its admin listener. So the thread is started here, to compile its code too.
// V8's compiled code is written when the thread ends.
const admin = await startAdminServer({ host: "127.0.0.1", port: 0, log: console, write: () => Promise.resolve("") });
await admin.close();

/** Whether the process listens for requests. The listener for metrics starts before it, and does not count. */
function isListening(log: string): boolean {
  return log.split("\n").some((line) => listenerUrl.test(line) && !line.includes(metricsListenerMessage));
}
