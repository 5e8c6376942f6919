// Runs during an image build, with the user and the flags of the process: starts it once, to fill NODE_COMPILE_CACHE with V8's compiled code
// and to check that it can load everything. It is stopped as soon as it listens. There is no database: a service exits by itself when it cannot
// reach one, which is after it has loaded everything.
//
//   node --v8-pool-size=1 infra/images/compile.ts gateway/src/main.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { startAdminServer } from "@tributary/kit/telemetry/admin-server";

const startMsMax = 60_000;
/** The message of the SERVICE_UNAVAILABLE error in kit/src/postgres/postgres.ts. */
const databaseIsMissing = "The database is not reachable";
/** The settings that the processes require to start; each process ignores those of others. */
const environment = {
  ...process.env,
  PORT: "0",
  DATABASE_URL: "postgres://user@127.0.0.1:1/database",
  PURGE_URL: "http://127.0.0.1:1/",
  APOLLO_TELEMETRY_DISABLED: "1",
  // With these, the process also loads its optional modules.
  ADMIN_PORT: "0",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
};

const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(2)], {
  env: environment,
  stdio: ["ignore", "pipe", "pipe"],
});
const timeout = setTimeout(() => child.kill("SIGKILL"), startMsMax);
let output = "";
let isStopping = false;
for (const stream of [child.stdout, child.stderr]) {
  stream.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    // Once: at a second signal the process exits immediately, without writing its compiled code.
    if (isStopping || !isListening(output)) return;
    isStopping = true;
    child.kill("SIGTERM");
  });
}
await once(child, "close");
clearTimeout(timeout);
if (!isListening(output) && !output.includes(databaseIsMissing)) {
  throw new Error(`The process does not start:\n${output}`);
}

// A service without a database exits before it starts the thread of its admin listener, so the thread is started here, to compile its code too.
// The end of the thread writes its cache.
const admin = await startAdminServer({ host: "127.0.0.1", port: 0, log: console, write: () => Promise.resolve("") });
await admin.close();

/** Whether the process listens for requests; the metrics listener, which starts first, does not count. */
function isListening(log: string): boolean {
  return /"url":"http:[^"]+"(?!,"msg":"metrics listening")/.test(log);
}
