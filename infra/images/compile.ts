// Runs in an image build: starts a process once, to fill NODE_COMPILE_CACHE and to check that all its modules load. A service never listens here,
// because there is no database: `node --v8-pool-size=1 infra/images/compile.ts gateway/dist/main.js`.
import { spawn } from "node:child_process";
import { once } from "node:events";

const startMsMax = 60_000;
/** Begins the message of the SERVICE_UNAVAILABLE error in kit/src/postgres/postgres.ts. */
const databaseUnreachableMessage = "The database is not reachable";
const listenerUrl = /"url":"http:[^"]+"/;
const metricsListenerMessage = '"msg":"metrics listening"';
const environment = {
  ...process.env,
  PORT: "0",
  DATABASE_URL: "postgres://user@127.0.0.1:1/database",
  PURGE_URL: "http://127.0.0.1:1/",
  // For the gateway, whose Apollo packages send usage reports by default.
  APOLLO_TELEMETRY_DISABLED: "1",
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
if (!isListening(output)) {
  if (!output.includes(databaseUnreachableMessage)) throw new Error(`The process does not start:\n${output}`);
  await runAdminThread();
}

/** A service without a database exits before it starts this thread, whose code is written when the thread ends. */
async function runAdminThread(): Promise<void> {
  const { startAdminServer } = await import("@tributary/kit/telemetry/admin-server");
  const admin = await startAdminServer({ host: "127.0.0.1", port: 0, log: console, write: () => Promise.resolve("") });
  await admin.close();
}

/** Whether the process listens for requests. The listener for metrics starts before it, and does not count. */
function isListening(log: string): boolean {
  return log.split("\n").some((line) => listenerUrl.test(line) && !line.includes(metricsListenerMessage));
}
