import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** One replica of a service in a process, which a test can stop with signals. */
export interface ReplicaProcess {
  readonly url: string;
  kill(signal: "SIGSTOP" | "SIGCONT"): void;
}

/** Responds to every request with `{}`, until the test has finished. */
export async function startReplicaProcess(): Promise<ReplicaProcess> {
  const child = spawn(process.execPath, ["--eval", server], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return { url: `http://127.0.0.1:${port.toString().trim()}`, kill: (signal) => void child.kill(signal) };
}

const server = `
const server = require("node:http").createServer((request, response) => {
  request.resume().on("end", () => response.setHeader("content-type", "application/json").end("{}"));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
