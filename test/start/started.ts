import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { isRunning, type ProcessIdentity } from "@tributary/kit/process/process-identity";
import { type PartName, parts } from "../../scripts/start/parts.ts";

export type TestPorts = Readonly<Record<PartName | "postgres", number>>;

interface PartIdentity extends ProcessIdentity {
  readonly name: string;
}

/** A start under way, with everything it has said so far. */
export interface Started {
  readonly child: ChildProcess;
  output(): string;
  /** Resolves with the first line that matches, said before or after. Throws with the output when the process ends first. */
  line(pattern: RegExp): Promise<string>;
  /** Resolves when it says that everything is ready. Throws with the output when it says that something is not. */
  ready(): Promise<void>;
  /** Resolves to the exit code, null after a signal. */
  exited(): Promise<number | null>;
  /** The processes that the supervisor has noted. */
  processes(): readonly PartIdentity[];
}

/** Free ports for a whole platform, all different. */
export async function pickPorts(): Promise<TestPorts> {
  const names = [...parts.map(({ name }) => name), "postgres"];
  const picked = new Set<number>();
  while (picked.size < names.length) picked.add(await pickFreePort());
  const ports = [...picked];
  return Object.fromEntries(names.map((name, index) => [name, ports[index]])) as unknown as TestPorts;
}

export function portVariables(ports: TestPorts): Record<string, string> {
  const own = parts.map(({ name, portVariable }) => [portVariable, String(ports[name])]);
  return { ...Object.fromEntries(own), POSTGRES_PORT: String(ports.postgres) };
}

/** Runs a start script with Node, as `npm start` does. */
export function startScript(
  script: string,
  args: readonly string[],
  dataDir: string,
  variables: Readonly<Record<string, string>>,
): Started {
  // Without what the test runner itself was given: its own coverage, its own bootstrap.
  const { NODE_V8_COVERAGE: _, BOOTSTRAP_PID: __, NODE_OPTIONS: ___, ...ambient } = process.env;
  const env = { ...ambient, NODE_NO_WARNINGS: "1", DATA_DIR: dataDir, ...variables };
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const gone = once(child, "close");
  let output = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = output.split("\n").find((text) => pattern.test(text));
        if (found === undefined) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      look();
      void gone.then(() => reject(new Error(`It ended without saying ${pattern}:\n${output}`)));
    });
  return {
    child,
    output: () => output,
    line,
    async ready() {
      const headline = await line(/^Tributary is/);
      if (!headline.startsWith("Tributary is ready")) throw new Error(output);
    },
    async exited() {
      await gone;
      return child.exitCode;
    },
    processes: () => (JSON.parse(readFileSync(join(dataDir, "run.json"), "utf8")) as { parts: never }).parts,
  };
}

/** The names of those that still run. */
export function namesRunning(processes: readonly PartIdentity[]): string[] {
  return processes.filter(isRunning).map(({ name }) => name);
}
