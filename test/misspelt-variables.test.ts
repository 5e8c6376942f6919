import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { describeEnvironment, type Environment } from "../kit/src/process/env.ts";
import { issuer, units } from "./kubernetes/units.ts";

test("every process logs a warning for a misspelt variable at start", async () => {
  const outputs = [
    run("gateway/src/main.ts", { SUPERGRAPH_FILE: "supergraph/supergraph.graphql" }),
    run("rest-proxy/src/main.ts", {}),
    run("services/users/src/main.ts", { DATABASE_URL: "postgres://users@127.0.0.1:9/none" }),
    run("infra/issuer/src/main.ts", {}),
    run("infra/purger/src/main.ts", { PURGE_URL: "http://127.0.0.1:9/" }),
  ];
  for (const output of outputs) await expect.poll(() => output()).toContain("did you mean DRAIN_DELAY_MS?");
});

test("no process warns of a variable that another Tributary process reads", () => {
  const processes = [...units, issuer];
  const all = processes.flatMap(({ readConfig }) => describeEnvironment(readConfig).map(({ name }) => name));
  const environment: Environment = { ...Object.fromEntries(all.map((name) => [name, name])), PORT: "0" };
  for (const { readConfig } of processes)
    expect(problemsOf(() => readConfig(environment))).not.toContain("did you mean");
});

function problemsOf(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return String(error);
  }
}

function run(main: string, environment: Environment): () => string {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, PORT: "0", DRAIN_DELY_MS: "5", ...environment };
  const child = spawn(process.execPath, [main], { env, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}
