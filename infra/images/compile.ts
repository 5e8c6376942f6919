// Run while an image is built, as the user and with the flags that the process will have: starts it once, so that V8's compiled code lies in
// NODE_COMPILE_CACHE, and thereby sees that everything it loads is there. There is no database here: who insists on one ends by itself.
//
//   node --v8-pool-size=1 infra/images/compile.ts gateway/src/main.ts
import { spawn } from "node:child_process";
import { once } from "node:events";

const startMsMax = 60_000;
/** Settings without which a process does not start; one ignores those of the others. */
const environment = {
  ...process.env,
  PORT: "0",
  DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing",
  APOLLO_TELEMETRY_DISABLED: "1",
  // What is loaded only when it is asked for has to be there as well.
  ADMIN_PORT: "0",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
};

const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(2)], {
  env: environment,
  stdio: ["ignore", "pipe", "pipe"],
});
const tooLate = setTimeout(() => child.kill("SIGKILL"), startMsMax);
let said = "";
for (const stream of [child.stdout, child.stderr]) {
  stream.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (isListening(said)) child.kill("SIGTERM");
  });
}
await once(child, "close");
clearTimeout(tooLate);
if (!isListening(said) && !said.includes("The data cannot be reached")) throw new Error(`It does not start:\n${said}`);

/** On its door, that is; the listener for metrics comes first. */
function isListening(log: string): boolean {
  return /"url":"http:[^"]+"(?!,"msg":"showing metrics")/.test(log);
}
