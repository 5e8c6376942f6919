import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { feedPortOf } from "@tributary/kit/feed/feed-config";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { isRunning, type ProcessIdentity } from "@tributary/kit/process/process-identity";
import { parts, type Ports } from "../../scripts/start/parts.ts";

export type TestPorts = Ports;

interface PartIdentity extends ProcessIdentity {
  readonly name: string;
}

/** A running `npm start` and its output. */
export interface Started {
  readonly child: ChildProcess;
  output(): string;
  /** Resolves with the first line that matches, already printed or not. Throws with the output if the process ends first. */
  line(pattern: RegExp): Promise<string>;
  /** Resolves when it prints that everything is ready, however late. Throws with the output if a part fails before. */
  ready(): Promise<void>;
  /** Resolves to the exit code, null after a signal. */
  exited(): Promise<number | null>;
  /** The processes that the supervisor has recorded. */
  processes(): readonly PartIdentity[];
}

/** Free ports for a whole platform, all different, with the ports of the change feeds. */
export async function pickPorts(): Promise<TestPorts> {
  const names = [...parts.map(({ name }) => name), "postgres"];
  const picked = new Set<number>();
  const ports: number[] = [];
  while (ports.length < names.length) {
    const port = await pickServicePort();
    if (picked.has(port) || picked.has(feedPortOf(port))) continue;
    picked.add(port).add(feedPortOf(port));
    ports.push(port);
  }
  return Object.fromEntries(names.map((name, index) => [name, ports[index]])) as unknown as TestPorts;
}

/** A free port whose change feed's port is free too. */
export function pickServicePort(): Promise<number> {
  return pickFreePort("127.0.0.1", feedPortOf(0));
}

export function portVariables(ports: TestPorts): Record<string, string> {
  const variables = parts.map(({ name, portVariable }) => [portVariable, String(ports[name])]);
  return { ...Object.fromEntries(variables), POSTGRES_PORT: String(ports.postgres) };
}

/** Runs a start script with Node, as `npm start` does. */
export function startScript(
  script: string,
  args: readonly string[],
  dataDir: string,
  variables: Readonly<Record<string, string>>,
): Started {
  return startProgram(process.execPath, [script, ...args], dataDir, variables);
}

/** Runs a program that becomes `npm start`. */
export function startProgram(
  program: string,
  args: readonly string[],
  dataDir: string,
  variables: Readonly<Record<string, string>>,
  cwd?: string,
): Started {
  // Without the variables that apply only to the test runner.
  const { NODE_V8_COVERAGE: _, BOOTSTRAP_PID: __, NODE_OPTIONS: ___, ...inherited } = process.env;
  const env = { ...inherited, NODE_NO_WARNINGS: "1", DATA_DIR: dataDir, ...variables };
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  let output = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const search = () => {
        const match = output.split("\n").find((text) => pattern.test(text));
        if (match === undefined) return;
        listeners.delete(search);
        resolve(match);
      };
      listeners.add(search);
      search();
      void closed.then(() => reject(new Error(`It ended without printing ${pattern}:\n${output}`)));
    });
  return {
    child,
    output: () => output,
    line,
    async ready() {
      const first = await line(/^Tributary is ready| before it was ready; /);
      if (!first.startsWith("Tributary is ready")) throw new Error(output);
      await line(/Ctrl-C to stop\.$/);
    },
    async exited() {
      await closed;
      return child.exitCode;
    },
    processes: () => (JSON.parse(readFileSync(join(dataDir, "run.json"), "utf8")) as { parts: never }).parts,
  };
}

/** The names of the processes that still run. */
export function namesRunning(processes: readonly PartIdentity[]): string[] {
  return processes.filter(isRunning).map(({ name }) => name);
}
